"""A question as a client of `harness mcp` gets it: exact, and nothing hidden without a word."""

from dataclasses import replace
from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams
from unit.frontends.fakes import BASH, EDIT, call, item

from pluggableharness.bridges.outward.questions import question
from pluggableharness.kernel.domain.call import CallContext
from pluggableharness.kernel.domain.plan import PlanItem, Scope

pytestmark = pytest.mark.req("K35", "K10")


def message(asked: PlanItem, changed: str = "") -> str:
    params = question(asked, changed).params
    assert isinstance(params, ElicitRequestFormParams)
    return params.message


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("rm -rf ~ \r\x1b[2K   command: ls -la", r'"rm -rf ~ \r\x1b[2K   command: ls -la"'),
        ("ls \u202egnp.exe", r'"ls \u202egnp.exe"'),
        ("ls\u200b", r'"ls\u200b"'),
    ],
)
def test_what_is_approved_shows_every_character(text: str, seen: str) -> None:
    """Case policy-and-schema-13, in this front end."""
    told = message(item(call(BASH, command=text)), f"it became {text}")
    assert f"│ command  {seen}" in told.splitlines()
    assert all(line.isprintable() for line in told.splitlines())


def test_what_an_answer_would_cover_and_who_asks_show_every_character_too() -> None:
    """Case policy-and-schema-13."""
    below = replace(call(BASH, command="ls"), context=CallContext("s", "t", "/work", ("a\x1b[2K",)))
    asked = replace(item(below), scopes=(Scope("ls \u202e", "x", "policy"),))
    params = question(asked, "").params
    assert isinstance(params, ElicitRequestFormParams)
    decision: Any = params.requested_schema["properties"]
    assert decision["decision"]["description"].endswith('covers: "ls \\u202e"')
    assert r'Allow exec.bash for "a\x1b[2K"?' in params.message


def test_a_line_of_a_path_cannot_pose_as_a_line_of_the_question() -> None:
    """Case policy-and-schema-13: a path with a line end."""
    told = message(item(call(EDIT, path="a\nAsked: by nobody", old_str="x", new_str="y")))
    assert [line for line in told.splitlines() if line.startswith("Asked")] == [
        "Asked: default for resource"
    ]


@pytest.mark.parametrize(
    "command",
    ["echo ok" + "\n" * 600 + "rm -rf x", "echo " + "x" * 90_000 + "; rm -rf x"],
    ids=["lines", "one line"],
)
def test_what_is_too_long_keeps_its_end_and_says_how_much_is_hidden(command: str) -> None:
    """Case policy-and-schema-14, in this front end."""
    told = message(item(call(BASH, command=command))).splitlines()
    assert sum("lines that are not shown here" in line for line in told) == 1
    assert told[-2].endswith("rm -rf x")
    assert len(told) < 500
