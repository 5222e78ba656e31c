"""An allowlist of shell commands: nothing slips through, and little is asked about in vain."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation
from unit.policy.shell_rules import TABLE, WHEN, Expected

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import Action, Asking, Rule, RuleBook, Terms, decide

PAGE = Path(__file__).parents[3] / "docs" / "design" / "policy.md"
BASH = operation("bash", provider="exec", risk=Risk.HIGH)
BOOK = RuleBook([Rule("reads", Action.ALLOW, frozenset(["bash"]), when=WHEN)])


def decision(command: str) -> Decision:
    return decide(BOOK, call(BASH, command=command), Terms(Asking.PERSON)).decision


def rows() -> Iterator[tuple[Expected, str, str]]:
    for expected, why, commands in TABLE:
        for command in commands:
            yield expected, why, command


@pytest.mark.req("K7")
@pytest.mark.parametrize(("expected", "why", "command"), list(rows()))
def test_a_command_comes_out_as_the_table_says(expected: Expected, why: str, command: str) -> None:
    """Cases policy-and-schema-01 to -04 and -09 to -12."""
    assert decision(command) in expected, why


@pytest.mark.req("K7")
def test_how_often_the_table_is_missed_is_what_the_page_says() -> None:
    table = [(Decision.ALLOW in expected, decision(command)) for expected, _, command in rows()]
    allowed = table.count((False, Decision.ALLOW))
    asked = table.count((True, Decision.ASK))
    found = f"of {len(table)} lines, by mistake {allowed} are allowed and {asked} is asked about"
    assert found in " ".join(PAGE.read_text(encoding="utf-8").split())
