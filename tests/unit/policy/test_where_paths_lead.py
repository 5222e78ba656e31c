"""Rules and grants hold for the place that a path leads to, whatever link it goes through."""

from dataclasses import replace

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Rule,
    RuleBook,
    Terms,
    decide,
    granted,
    scopes,
)

pytestmark = pytest.mark.req("K5a", "K10")

HERE = "/work/project"
TERMS = Terms(Asking.PERSON)
WRITE = operation("write_file")
BASH = operation("bash", provider="exec")


def leading(made: Call, to: str) -> Call:
    """The call as if `ln` led to that folder of the project."""
    real = f"{HERE}/{to}/f"
    return replace(made, places={HERE: HERE, f"{HERE}/ln/f": real})


CALLS = [call(WRITE, path="ln/f"), call(BASH, command="echo x >ln/f")]


@pytest.mark.parametrize("made", CALLS)
def test_an_allow_of_a_folder_covers_no_link_that_leads_out_of_it(made: Call) -> None:
    when = "writes.all(p, p.startsWith('ln/'))"
    if made.operation is BASH:
        when += " && commands.all(c, c.program == 'echo')"
    book = RuleBook([Rule("below ln", Action.ALLOW, when=when)])
    assert decide(book, leading(made, "ln"), TERMS).decision is Decision.ALLOW
    assert decide(book, leading(made, "b"), TERMS).decision is Decision.ASK


@pytest.mark.parametrize("made", CALLS)
def test_a_deny_of_a_file_holds_for_every_link_to_it(made: Call) -> None:
    book = RuleBook(
        [
            Rule("all", Action.ALLOW),
            Rule("not b", Action.DENY, when="writes.exists(p, p == 'b/f')"),
        ]
    )
    assert decide(book, leading(made, "a"), TERMS).decision is not Decision.DENY
    assert decide(book, leading(made, "b"), TERMS).decision is Decision.DENY


def test_what_is_granted_through_a_link_holds_only_while_it_leads_there() -> None:
    made = leading(CALLS[0], "a")
    offered = scopes(made, None)
    assert [scope.covers for scope in offered] == ["ln/f, a/f"]
    book = RuleBook([granted(made, None, offered[0])])
    assert decide(book, made, TERMS).decision is Decision.ALLOW
    assert decide(book, leading(CALLS[0], "b"), TERMS).decision is Decision.ASK
