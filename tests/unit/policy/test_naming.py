"""Which rules speak knowingly of a protected path, and which only mention it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import Action, Asking, Rule, RuleBook, Terms, decide
from pluggableharness.kernel.policy.conditions import compiled
from pluggableharness.kernel.policy.naming import named_paths

pytestmark = pytest.mark.req("K5a")

WRITE = operation("write_file")

DEMANDING = [
    "arguments.path == 'agent.hcl'",
    'arguments["path"] == "agent.hcl"',
    "arguments.path in ['a.txt', 'agent.hcl']",
    "writes == ['agent.hcl']",
    "'agent.hcl' in writes",
    "writes.all(p, p in ['agent.hcl', 'x'])",
    "writes.all(each, each == 'agent.hcl')",
    "(tool == 'write_file' && (arguments.path == 'agent.hcl'))",
    "arguments.path == 'agent.hcl' || arguments.path == 'x'",
    "arguments.path == 'agent.hcl' && arguments.content == 'agent.hcl'",
    "arguments.path == 'agent.hcl' && !arguments.content.contains('a ? b || c // d')",
]
MENTIONING = [
    "arguments.path != 'x.hcl' || arguments.path == 'agent.hcl'",
    "arguments.path != 'b' && 'agent.hcl' != 'c'",
    "arguments.path != './agent.hcl'",
    "!(arguments.path == './agent.hcl')",
    "!(writes == ['agent.hcl', 'x'])",
    "arguments.content == 'agent.hcl'",
    "!arguments.content.contains('agent.hcl') || arguments.content == 'agent.hcl'",
    "arguments.content == 'agent.hcl' || arguments.path == 'agent.hcl'",
    "arguments.path.contains('agent.hcl')",
    "arguments.path.startsWith('agent.hcl') && true",
    "(arguments.path == 'x') != (true && arguments.path == 'agent.hcl')",
    "(true && arguments.path == 'x') == (false && arguments.path == 'x' && 'agent.hcl' in writes)",
    "arguments.path == 'x' ? false : true || arguments.path == 'agent.hcl'",
    "(true ? true : false && arguments.path == 'agent.hcl')",
    "writes.exists(p, p == 'agent.hcl') || true",
    "writes.all(p, p in ['agent.hcl'] || true)",
    "true // && arguments.path == 'agent.hcl'",
    r"r'\' != 'x' && arguments.path == ' || r'\' != 'agent.hcl'",
    "'''a' && arguments.path == 'agent.hcl' && 'b''' != 'x'",
    "size(['agent.hcl']) == 1",
    "['agent.hcl'].exists(x, true)",
    "arguments.path == 'agent.hcl' == (arguments.path == 'agent.hcl')",
]


def decision(when: str, path: str = "agent.hcl") -> Decision:
    rule = Rule("r", Action.ALLOW, when=when)
    asked = call(WRITE, path=path, content="agent.hcl")
    return decide(RuleBook([rule]), asked, Terms(Asking.PERSON)).decision


@pytest.mark.parametrize("when", DEMANDING)
def test_a_rule_that_demands_a_path_is_taken_at_its_word(when: str) -> None:
    assert decision(when) is Decision.ALLOW


@pytest.mark.parametrize("when", MENTIONING)
@pytest.mark.parametrize("path", ["agent.hcl", "./agent.hcl"])
def test_a_rule_that_keeps_a_path_out_or_only_mentions_it_takes_nothing_from_the_floor(
    when: str, path: str
) -> None:
    assert named_paths(when) == frozenset()
    assert decision(when, path) is Decision.ASK


def test_a_rule_that_demands_one_path_says_nothing_of_another() -> None:
    assert decision("arguments.path != 'x' || arguments.path == 'y'") is Decision.ASK
    assert decision("writes.all(p, p != 'x') && tool == 'agent.hcl'") is Decision.ASK


ATOMS = [
    *("arguments.path == 'agent.hcl'", "arguments.path != 'agent.hcl'", "true", "false"),
    *("writes == ['agent.hcl']", "arguments.path in ['agent.hcl', 'x']", "'agent.hcl' == 'x'"),
]
CONDITIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||", "==", "!="]), inner).map(
            lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
        ),
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(" ".join),
        inner.map("!({})".format),
        inner.map("({})".format),
        st.tuples(inner, inner, inner).map(lambda of: f"({of[0]}) ? ({of[1]}) : ({of[2]})"),
    ),
    max_leaves=8,
)


@given(CONDITIONS)
def test_what_demands_a_path_holds_for_no_other(when: str) -> None:
    assert compiled(when)
    if named_paths(when):
        other = "./agent.hcl.md"
        assert decision(when, other) is Decision.ASK
