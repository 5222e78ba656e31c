"""From rules and a call to a verdict (K4-K6, K10)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.policy.floor import protected_write
from pluggableharness.kernel.policy.rules import Action, Rule

_DECISIONS = {
    Action.ALLOW: Decision.ALLOW,
    Action.ASK: Decision.ASK,
    Action.DENY: Decision.DENY,
    Action.FORBID: Decision.DENY,
}
_PROTECTED = "Such a write is asked about whatever the rules say: answer attended."
_STRICTEST_FIRST = (Action.FORBID, Action.DENY, Action.ASK, Action.ALLOW)


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
    of denying them (K6). `policy_files` are the absolute paths of the files that rules come
    from (K5a).
    """

    asking: Asking
    gate_reads: bool = False
    policy_files: frozenset[str] = frozenset()


class RuleBook:
    """Rules in the order in which they win, found by what an operation is called.

    The index goes by tool name and provider, each of them or neither: what is left to look at
    differs by risk and kind alone, and of those there are few (S11).
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._index: dict[tuple[str | None, str | None], list[tuple[int, Rule]]] = {}
        for place, rule in enumerate(sorted(rules, key=_precedence)):
            for tool_name in _ANY if rule.tool_name is None else rule.tool_name:
                for provider in _ANY if rule.provider is None else rule.provider:
                    self._index.setdefault((tool_name, provider), []).append((place, rule))

    def matching(self, operation: Operation) -> list[Rule]:
        """The rules that speak of an operation, the one that wins first.

        A forbid precedes everything, then the more specific, then the stricter, then the one
        written first.
        """
        return [rule for _, rule in sorted(self._entries(operation), key=_place)]

    def winner(self, operation: Operation) -> Rule | None:
        """The first of `matching`; None when no rule speaks of the operation."""
        return min(self._entries(operation), key=_place, default=_NO_ENTRY)[1]

    def _entries(self, operation: Operation) -> Iterator[tuple[int, Rule]]:
        index = self._index
        for tool_name in (operation.name, None):
            for provider in (operation.provider, None):
                for entry in index.get((tool_name, provider), ()):
                    if entry[1].matches(operation):
                        yield entry


_ANY: tuple[None] = (None,)
_NO_ENTRY: tuple[int, Rule | None] = (0, None)


def _place(entry: tuple[int, Rule]) -> int:
    return entry[0]


def _precedence(rule: Rule) -> tuple[object, ...]:
    """Sorts the rule that wins before those that lose; equals keep their order."""
    unspecific = tuple(not named for named in rule.rank)
    return (rule.action is not Action.FORBID, unspecific, _STRICTEST_FIRST.index(rule.action))


def decide(rules: RuleBook, call: Call, terms: Terms) -> Verdict:
    """What becomes of a call: the winning rule or the default, never looser than the floor.

    ASK comes out only when a person is to be asked. Where nobody can be, the verdict is DENY
    with `downgraded_from` and a reason that says how to allow the call.
    """
    winner = rules.winner(call.operation)
    decision, source, reason = _ruling(winner, call.operation)
    if decision is Decision.ALLOW:
        protected = protected_write(call, terms.policy_files)
        if protected is not None:
            return _asked(call.operation, "protected path", protected, _PROTECTED, terms)
    if decision is Decision.ASK:
        return _asked(call.operation, source, reason, _remedy(winner, call.operation), terms)
    return Verdict(decision, source, reason)


def _ruling(winner: Rule | None, operation: Operation) -> tuple[Decision, str, str]:
    """The decision, where it comes from and why, before anything raises or downgrades it."""
    if winner is not None:
        return _DECISIONS[winner.action], f"rule {winner.name}", winner.reason
    asks = operation.kind is Kind.RESOURCE
    return (
        Decision.ASK if asks else Decision.ALLOW,
        f"default for {operation.kind.value}",
        "no rule speaks of it",
    )


def _asked(operation: Operation, source: str, reason: str, remedy: str, terms: Terms) -> Verdict:
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
        return _downgraded(source, reason, f"nobody is here to ask. {remedy}")
    return Verdict(Decision.ASK, source, reason)


def _downgraded(source: str, reason: str, why: str) -> Verdict:
    told = f"{reason}; {why}" if reason else why
    return Verdict(Decision.DENY, source, told, downgraded_from=Decision.ASK)


def _remedy(winner: Rule | None, operation: Operation) -> str:
    """How a person lets the call run next time; a rule that asks must itself be changed."""
    if winner is not None:
        return f"To allow it, change {winner}, answer attended, or pass --allow-all."
    return (
        "To allow it, answer attended, pass --allow-all, or put into agent.hcl:\n"
        f'policy "allow-{operation.provider}-{operation.name}" {{\n'
        f'  match  = {{ provider = "{operation.provider}", tool_name = "{operation.name}" }}\n'
        '  action = "allow"\n'
        "}"
    )
