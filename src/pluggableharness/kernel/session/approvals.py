"""One policy for a tree of sessions: its rules, and what people granted meanwhile (K10, K23)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.domain.plan import Lasting, Scope
from pluggableharness.kernel.domain.verdict import Verdict
from pluggableharness.kernel.policy import (
    BadCondition,
    Explanation,
    Rule,
    RuleBook,
    Terms,
    compiled,
    decide,
    explain,
    granted,
    scopes,
)

Keep = Callable[[str], None]
"""Writes a rule where the next start finds it. Raises GrantNotKept."""


class Standing:
    """The rules of all sessions of a kernel, and what people allowed in them for always.

    `keep` None means that nothing can be allowed for always.
    """

    def __init__(self, rules: tuple[Rule, ...], keep: Keep | None = None) -> None:
        self.rules = rules
        self.count = 0
        self._keep = keep
        self._news = asyncio.Event()

    def add(self, rule: Rule, text: str) -> None:
        """Let a rule hold everywhere, once its text is kept. Raises GrantNotKept."""
        if self._keep is None:
            raise GrantNotKept("there is no project here whose policy file could keep it")
        self._keep(text)
        self.rules = (*self.rules, rule)
        self.count += 1
        self.tell()

    def tell(self) -> None:
        """Wake everyone who waits for a grant, in whatever session."""
        self._news.set()
        self._news = asyncio.Event()

    async def news(self) -> None:
        """Return once anything was granted anywhere."""
        await self._news.wait()


class Approvals:
    """The rules as they stand for one tree: those of its kernel, and its own grants."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._own: tuple[Rule, ...] = ()
        self._seen = -1
        self._read = RuleBook(())

    def decide(self, call: Call, terms: Terms) -> Verdict:
        """Policy's verdict, grants included."""
        return decide(self._book, call, terms)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules of the tree: those of its kernel, and what was granted."""
        return (*self._standing.rules, *self._own)

    def explain(self, call: Call, terms: Terms) -> Explanation:
        """Why policy's verdict on a call is what it is (F11)."""
        return explain(self.rules, call, terms)

    @property
    def count(self) -> int:
        """How many grants there are by now."""
        return self._standing.count + len(self._own)

    async def beyond(self, count: int) -> None:
        """Return once there are more grants than that."""
        while self.count <= count:
            await self._standing.news()

    def scopes(self, call: Call, terms: Terms) -> tuple[Scope, ...]:
        """What an allow of the call may cover, beside the call itself."""
        digest = terms.digest(call.operation)
        asked_by = self._asked_by(call, terms)
        return scopes(call, asked_by, terms.policy_files, digest)

    def add(self, call: Call, scope: Scope, lasting: Lasting, terms: Terms) -> None:
        """Let a scope hold, for this tree or, kept first, for always. Raises GrantNotKept."""
        rule = granted(call, self._asked_by(call, terms), scope, terms.digest(call.operation))
        try:
            if rule.when:
                compiled(rule.when)
        except BadCondition as failure:
            raise GrantNotKept(f"this cannot be allowed beyond once: {failure}") from failure
        if lasting is Lasting.ALWAYS:
            self._standing.add(rule, scope.rule)
        else:
            self._own = (*self._own, rule)
            self._standing.tell()

    @property
    def _book(self) -> RuleBook:
        """All rules, indexed again when there are more."""
        if self._seen != self.count:
            self._seen = self.count
            self._read = RuleBook(self.rules)
        return self._read

    def _asked_by(self, call: Call, terms: Terms) -> Rule | None:
        won = self._book.winner(call.operation, terms.facts(call))
        return won.rule if won is not None else None


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """Approvals under the terms of one session: a turn's `decide`, and its Grants.

    `terms` are asked for each time: who is there, and which files are believed, may change.
    """

    approvals: Approvals
    terms: Callable[[Call], Terms]

    def decide(self, call: Call) -> Verdict:
        """Policy's verdict."""
        return self.approvals.decide(call, self.terms(call))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules as they stand."""
        return self.approvals.rules

    def explain(self, call: Call) -> Explanation:
        """Why policy's verdict on a call is what it is."""
        return self.approvals.explain(call, self.terms(call))

    @property
    def count(self) -> int:
        """How many grants there are."""
        return self.approvals.count

    def scopes(self, call: Call) -> tuple[Scope, ...]:
        """What an allow of a call may cover."""
        return self.approvals.scopes(call, self.terms(call))

    def add(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        """Let a scope of the call hold from now on. Raises GrantNotKept."""
        self.approvals.add(call, scope, lasting, self.terms(call))

    async def beyond(self, count: int) -> None:
        """Return once there are more than `count`."""
        await self.approvals.beyond(count)
