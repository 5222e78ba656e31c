"""The rule book against the definition of who wins, on random rules and operations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import Action, Asking, Facts, Rule, RuleBook, Terms, decide

TOOLS = st.sampled_from(["bash", "write", "read"])
PROVIDERS = st.sampled_from(["exec", "files"])
NAMES = st.integers(0, 10**6).map(lambda number: f"r{number}")


def named(values: st.SearchStrategy[object]) -> st.SearchStrategy[frozenset[object] | None]:
    return st.none() | st.frozensets(values, max_size=2)


RULES = st.lists(
    st.builds(
        Rule,
        NAMES,
        st.sampled_from(Action),
        tool_name=named(TOOLS),
        provider=named(PROVIDERS),
        risk=named(st.sampled_from([Risk.LOW, Risk.HIGH])),
        kind=named(st.sampled_from([Kind.RESOURCE, Kind.DATA_SOURCE])),
    ),
    max_size=12,
    unique_by=lambda rule: rule.name,
)
OPERATIONS = st.builds(
    lambda name, provider, kind, risk: operation(name, kind, provider=provider, risk=risk),
    TOOLS,
    PROVIDERS,
    st.sampled_from(Kind),
    st.sampled_from([Risk.LOW, Risk.HIGH]),
)


def speaks_of(rule: Rule, of: Operation) -> bool:
    pairs = [
        (rule.tool_name, of.name),
        (rule.provider, of.provider),
        (rule.risk, of.risk),
        (rule.kind, of.kind),
    ]
    return all(values is None or value in values for values, value in pairs)


def winner_by_the_book(rules: list[Rule], of: Operation) -> Rule | None:
    """K4, K5 and the tie of K7, one rule after another."""
    matching = [rule for rule in rules if speaks_of(rule, of)]
    forbids = [rule for rule in matching if rule.action is Action.FORBID]
    if forbids:
        matching = forbids
    best = max((rule.rank for rule in matching), default=None)
    equal = [rule for rule in matching if rule.rank == best]
    for action in (Action.FORBID, Action.DENY, Action.ASK, Action.REVIEW, Action.ALLOW):
        for rule in equal:
            if rule.action is action:
                return rule
    return None


@pytest.mark.req("K4", "K5", "K7")
@given(RULES, OPERATIONS)
def test_the_book_finds_the_winner_of_the_definition(rules: list[Rule], of: Operation) -> None:
    book = RuleBook(rules)
    won = book.winner(of, Facts(call(of)))
    assert (won and won.rule) == winner_by_the_book(rules, of)
    matching = book.matching(of)
    assert {rule.name for rule in matching} == {r.name for r in rules if speaks_of(r, of)}
    assert matching[:1] == ([won.rule] if won else [])


@pytest.mark.req("K4", "K5", "K6", "K10")
@given(RULES, OPERATIONS, st.sampled_from(Asking), st.booleans())
def test_no_mode_loosens_a_denial_or_tightens_an_allow(
    rules: list[Rule], of: Operation, asking: Asking, gate_reads: bool
) -> None:
    winner = winner_by_the_book(rules, of)
    verdict = decide(RuleBook(rules), call(of, path="a"), Terms(asking, gate_reads))
    if winner is None:
        action = Action.ASK if of.kind is Kind.RESOURCE else Action.ALLOW
    else:
        action = winner.action
    match action:
        case Action.DENY | Action.FORBID:
            assert verdict.decision is Decision.DENY
            assert verdict.downgraded_from is None
        case Action.ALLOW:
            assert verdict.decision is Decision.ALLOW
        case Action.REVIEW:
            answered = asking is Asking.CALLER
            assert (verdict.decision is Decision.ALLOW) == answered
            assert (verdict.decision is Decision.ASK and verdict.review is not None) != answered
        case Action.ASK:
            can_ask = asking is Asking.PERSON and (of.kind is Kind.RESOURCE or gate_reads)
            assert (verdict.decision is Decision.ASK) == can_ask
            answered = asking in (Asking.ALLOW_ALL, Asking.CALLER)
            assert (verdict.decision is Decision.ALLOW) == answered
            downgraded = verdict.downgraded_from is Decision.ASK
            assert downgraded == (verdict.decision is Decision.DENY)
