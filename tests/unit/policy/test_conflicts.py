"""Which rules cannot stand beside each other."""

import pytest

from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.policy import Action, Position, Rule, conflicts, without_match

BASH = frozenset(["bash"])
EXEC = frozenset(["exec"])


@pytest.mark.req("K5")
def test_the_same_match_twice_is_a_conflict_that_shows_both_with_their_places() -> None:
    first = Rule("one", Action.ALLOW, BASH, EXEC, position=Position("agent.hcl", 3))
    second = Rule("two", Action.DENY, BASH, EXEC, position=Position("more.hcl", 9))
    third = Rule("three", Action.ALLOW, BASH, EXEC)
    found = conflicts([first, second, third])
    assert [(c.first, c.second) for c in found] == [(first, second), (first, third)]
    for part in ('"one" (agent.hcl:3)', '"two" (more.hcl:9)', "deny against allow"):
        assert part in str(found[0])


@pytest.mark.req("K5")
def test_the_order_within_a_list_is_no_difference() -> None:
    one = Rule("one", Action.ALLOW, frozenset(["a", "b"]))
    assert conflicts([one, Rule("two", Action.ASK, frozenset(["b", "a"]))])


@pytest.mark.req("K5")
def test_other_fields_or_other_values_are_no_conflict() -> None:
    rules = [
        Rule("a", Action.ALLOW, BASH),
        Rule("b", Action.DENY, BASH, EXEC),
        Rule("c", Action.DENY, frozenset(["bash", "other"])),
        Rule("d", Action.DENY, None, frozenset(["bash"])),
        Rule("e", Action.DENY, risk=frozenset([Risk.LOW])),
        Rule("f", Action.DENY, risk=frozenset([Risk.HIGH])),
        Rule("g", Action.DENY, kind=frozenset([Kind.RESOURCE])),
        Rule("h", Action.DENY),
    ]
    assert conflicts(rules) == ()


@pytest.mark.req("K5")
def test_a_rule_that_names_nothing_is_worth_a_warning() -> None:
    everything = Rule("all", Action.ALLOW)
    nothing = Rule("none", Action.ALLOW, tool_name=frozenset())
    assert without_match([everything, nothing, Rule("b", Action.DENY, BASH)]) == (everything,)
    assert conflicts([everything, Rule("again", Action.DENY)])
