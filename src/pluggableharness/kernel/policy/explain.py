"""Why a call is judged as it is: every rule, whether it matched, and which one won (F11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.verdict import Verdict
from pluggableharness.kernel.policy.evaluate import RuleBook, Terms, decide, ruling
from pluggableharness.kernel.policy.facts import Facts
from pluggableharness.kernel.policy.rules import Rule
from pluggableharness.kernel.policy.shell import ShellView


@dataclass(frozen=True, slots=True)
class Considered:
    """A rule beside a call: whether it matched, whether it decided, and why or why not."""

    rule: Rule
    matched: bool
    decided: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict, the rules in the order in which they win, those that speak of other calls last.

    `view` is what policy makes of a shell command, None for other calls.
    """

    verdict: Verdict
    rules: tuple[Considered, ...]
    view: ShellView | None


def explain(rules: Sequence[Rule], call: Call, terms: Terms) -> Explanation:
    """All about a decision. It is the decision that `decide` takes, not one beside it."""
    book = RuleBook(rules)
    facts = terms.facts(call)
    verdict = decide(book, call, terms)
    speaking = book.matching(call.operation)
    granted = [one for one in rules if one.granted and one.matches(call.operation)]
    others = [one for one in rules if not one.matches(call.operation)]
    digest = terms.digest(call.operation)
    considered = [_considered(one, facts, verdict, digest) for one in (*speaking, *granted)]
    considered += [Considered(one, False, False, _elsewhere(one, call.operation)) for one in others]
    return Explanation(verdict, tuple(considered), facts.view)


def _considered(rule: Rule, facts: Facts, verdict: Verdict, digest: str) -> Considered:
    lapse = rule.lapse(digest)
    if lapse:
        return Considered(rule, False, False, lapse)
    ruled = ruling(rule, facts)
    matched = ruled is not None
    decided = matched and verdict.decided_by in (f"rule {rule.name}", f"grant {rule.name}")
    return Considered(rule, matched, decided, ruled.why if ruled else facts.answer(rule).why)


def _elsewhere(rule: Rule, operation: Operation) -> str:
    """Which of its fields keeps a rule from speaking of an operation."""
    actual = {
        "provider": operation.provider,
        "tool_name": operation.name,
        "risk": operation.risk.value,
        "kind": operation.kind.value,
    }
    return "; ".join(
        f"its {name} is {' or '.join(values) or 'nothing'}, not {actual[name]}"
        for name, values in rule.named.items()
        if actual[name] not in values
    )
