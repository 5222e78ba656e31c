"""From rules and a call to a verdict (K4-K8, K10)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import assert_never

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.verdict import Decision, Review, Reviewer, Verdict
from pluggableharness.kernel.policy.facts import Facts, Held
from pluggableharness.kernel.policy.floor import protected_write
from pluggableharness.kernel.policy.grants import narrowest
from pluggableharness.kernel.policy.naming import named_paths
from pluggableharness.kernel.policy.rules import Action, Rule

_DECISIONS = {
    Action.ALLOW: Decision.ALLOW,
    Action.ASK: Decision.ASK,
    Action.DENY: Decision.DENY,
    Action.FORBID: Decision.DENY,
    Action.REVIEW: Decision.ASK,
}
_PROTECTED = "Such a write is asked about whatever the rules say: answer attended."
_NO_RULE = "what it runs or writes cannot be told for certain"
_LONGEST_RULE = 2000
"""Characters of a rule that a denial shows: the model reads it."""
_STRICTEST_FIRST = (Action.FORBID, Action.DENY, Action.ASK, Action.REVIEW, Action.ALLOW)


class Asking(Enum):
    """Who answers when policy says ask (K4, K10)."""

    PERSON = "person"
    NOBODY = "nobody"
    ALLOW_ALL = "--allow-all"
    CALLER = "the caller, whose own act it is"


@dataclass(frozen=True, slots=True)
class Terms:
    """Under what policy applies in a session.

    `gate_reads` asks about data sources and interactive calls where a rule says so, instead
    of denying them (K6). `policy_files` are the absolute paths of what is believed or started
    later: files, and folders with all in them (K5a). `digest` is that of what an operation
    declares, by which grants are bound to it (F4).
    """

    asking: Asking
    gate_reads: bool = False
    policy_files: frozenset[str] = frozenset()
    digest: Callable[[Operation], str] = field(default=lambda operation: "", compare=False)

    def facts(self, call: Call) -> Facts:
        """What rules are asked about a call."""
        return Facts(call, attended=self.asking is Asking.PERSON)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a rule says about a call: its action, or what an unusable command makes of it.

    `why` is empty when the condition simply held.
    """

    rule: Rule
    action: Action
    why: str = ""


def ruling(rule: Rule, facts: Facts) -> Ruling | None:
    """What a rule whose fields match says about a call; None when its condition keeps it out.

    A condition that fails is no match for an allow and a match for the others. Where the
    command is unusable a deny becomes an ask, and a forbid stays what it is (K7).
    """
    answer = facts.answer(rule)
    if answer.held is Held.YES:
        return Ruling(rule, rule.action)
    if answer.held is Held.NO or rule.action is Action.ALLOW:
        return None
    if answer.held is not Held.UNUSABLE:
        return Ruling(rule, rule.action, answer.why)
    if rule.action is Action.FORBID:
        why = f"{answer.why}; rule {in_quotes(rule.name)} forbids what it cannot read"
        return Ruling(rule, Action.FORBID, why)
    softened = rule.action is Action.DENY
    return Ruling(rule, Action.ASK if softened else rule.action, answer.why)


def decisive(rules: Sequence[Rule], facts: Facts) -> Ruling | None:
    """The ruling that wins among rules in their order; a deny that became an ask yields to a
    plain deny of its rank."""
    found: Ruling | None = None
    for rule in rules:
        if found is not None and (rule.action is not Action.DENY or rule.rank != found.rule.rank):
            break
        one = ruling(rule, facts)
        if one is not None and (found is None or one.action is Action.DENY):
            found = one
            if one.action is rule.action:
                break
    return found


class RuleBook:
    """Rules in the order in which they win, found by what an operation is called.

    The index goes by tool name and provider, each of them or neither: what is left to look at
    differs by risk and kind alone, and of those there are few (S11).
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._index: dict[tuple[str | None, str | None], list[tuple[int, Rule]]] = {}
        self._granted = [rule for rule in rules if rule.granted]
        ruling = [rule for rule in rules if not rule.granted]
        for place, rule in enumerate(sorted(ruling, key=_precedence)):
            for tool_name in _ANY if rule.tool_name is None else rule.tool_name:
                for provider in _ANY if rule.provider is None else rule.provider:
                    self._index.setdefault((tool_name, provider), []).append((place, rule))

    def matching(self, operation: Operation) -> list[Rule]:
        """The rules whose fields speak of an operation, the one that wins first.

        A forbid precedes everything, then the more specific, then the stricter, then the one
        written first. What people granted is not among them.
        """
        return [entry[1] for entry in sorted(self._entries(operation), key=_place)]

    def winner(self, operation: Operation, facts: Facts) -> Ruling | None:
        """The rule that decides a call, and what it says about it; None when none does."""
        return decisive(self.matching(operation), facts)

    def grants(self, operation: Operation, facts: Facts, asked_by: Rule | None) -> Iterator[Rule]:
        """The grants that answer a question of equal rank or less, if they still hold (F4).

        A deny that only an unusable command made a question is still no question to them (K10).
        """
        if asked_by is not None and asked_by.action is Action.DENY:
            return
        for rule in self._granted:
            specific = asked_by is None or rule.rank >= asked_by.rank
            if specific and rule.matches(operation) and facts.answer(rule).held is Held.YES:
                yield rule

    def _entries(self, operation: Operation) -> Iterator[tuple[int, Rule]]:
        index = self._index
        for tool_name in (operation.name, None):
            for provider in (operation.provider, None):
                for entry in index.get((tool_name, provider), ()):
                    if entry[1].matches(operation):
                        yield entry


_ANY: tuple[None] = (None,)


def _place(entry: tuple[int, Rule]) -> int:
    return entry[0]


def _precedence(rule: Rule) -> tuple[object, ...]:
    """Sorts the rule that wins before those that lose; equals keep their order."""
    unspecific = tuple(not named for named in rule.rank)
    return (rule.action is not Action.FORBID, unspecific, _STRICTEST_FIRST.index(rule.action))


def decide(rules: RuleBook, call: Call, terms: Terms) -> Verdict:
    """What becomes of a call: the winning rule or the default, never looser than the floor.

    ASK comes out only when a person or a reviewer is to be asked. Where nobody can be, the
    verdict is DENY with `downgraded_from` and a reason that says how to allow the call.
    """
    operation = call.operation
    facts = terms.facts(call)
    won = rules.winner(operation, facts)
    decision, source, reason = _ruled(won, call)
    asking = won.rule if won else None
    if decision is Decision.DENY:
        return Verdict(decision, source, reason)
    reviewing = asking is not None and asking.action is Action.REVIEW
    may_allow = decision is Decision.ALLOW or reviewing
    protected = _protected(call, asking, terms) if may_allow else None
    if decision is Decision.ALLOW and protected is None:
        return Verdict(decision, source, reason)
    grant, lapsed = _granted(rules.grants(operation, facts, asking), call, terms)
    if grant is not None:
        return Verdict(Decision.ALLOW, f"grant {grant.name}")
    if protected is not None:
        reason = _both(protected, lapsed)
        asked = _asked(operation, "protected path", reason, lambda: _PROTECTED, terms)
    else:
        reason = _both(reason, lapsed)
        asked = _asked(operation, source, reason, partial(_remedy, asking, call, terms), terms)
    if asking is None or not reviewing or terms.asking is Asking.CALLER:
        return asked
    # Also before --allow-all, whose yes is to questions: a reviewer's denial holds (K10).
    review = Review(asking.reviewer or Reviewer(), asked, enough=protected is None)
    return Verdict(Decision.ASK, source, reason, review=review)


def _granted(grants: Iterator[Rule], call: Call, terms: Terms) -> tuple[Rule | None, str]:
    """The grant that answers the question, or why the first that would have holds no longer."""
    lapsed = ""
    for grant in grants:
        if _protected(call, grant, terms) is None:
            why = grant.lapse(terms.digest(call.operation))
            if not why:
                return grant, ""
            lapsed = lapsed or why
    return None, lapsed


def _both(reason: str, further: str) -> str:
    return "; ".join(part for part in (reason, further) if part)


def _protected(call: Call, allowing: Rule | None, terms: Terms) -> str | None:
    """The floor, but for a path that the rule which allows the call demands (K5a)."""
    named = named_paths("" if allowing is None else allowing.when)
    return protected_write(call, terms.policy_files, named)


def _ruled(won: Ruling | None, call: Call) -> tuple[Decision, str, str]:
    """The decision, where it comes from and why, before anything raises or downgrades it."""
    if won is not None:
        # What stood in the condition's way comes first: the rule's own reason is not the cause.
        reason = _both(won.why, won.rule.reason)
        return _DECISIONS[won.action], f"rule {won.rule.name}", reason
    kind = call.operation.kind
    return (
        Decision.ASK if kind is Kind.RESOURCE else Decision.ALLOW,
        f"default for {kind.value}",
        call.distrusted or "no rule speaks of it",
    )


def _asked(
    operation: Operation, source: str, reason: str, remedy: Callable[[], str], terms: Terms
) -> Verdict:
    match terms.asking:
        case Asking.ALLOW_ALL:
            return Verdict(Decision.ALLOW, "--allow-all", f"{source} asks")
        case Asking.CALLER:
            return Verdict(Decision.ALLOW, "person", "the caller's own act")
        case Asking.PERSON | Asking.NOBODY:
            pass
        case never:
            assert_never(never)
    if operation.kind is not Kind.RESOURCE and not terms.gate_reads:
        why = f"a {operation.kind.value} is only asked about with settings {{ gate_reads = true }}"
        return _downgraded(source, reason, f"{why}, so the question became a denial.")
    if terms.asking is Asking.NOBODY:
        return _downgraded(source, reason, f"nobody is here to ask. {remedy()}")
    return Verdict(Decision.ASK, source, reason)


def _downgraded(source: str, reason: str, why: str) -> Verdict:
    return Verdict(Decision.DENY, source, _both(reason, why), downgraded_from=Decision.ASK)


def _remedy(winner: Rule | None, call: Call, terms: Terms) -> str:
    """How a person lets the call run next time, wherever it comes from: the one thing to do.

    A rule that asks must itself be changed; one that is shown allows no more than the gate would
    offer to allow for always.
    """
    if winner is not None:
        return f"To allow it, change {winner}."
    scope = narrowest(call, terms.policy_files)
    if scope is None:
        return f"To allow it, answer attended: a rule for it cannot be written, since {_NO_RULE}."
    if len(scope.rule) > _LONGEST_RULE:
        return "To allow it, answer attended: a rule for it would be too long to show."
    rule = scope.rule.replace('policy "granted-', 'policy "allow-', 1).rstrip()
    return f"To allow it, put into agent.hcl:\n{rule}"
