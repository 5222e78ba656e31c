"""Explanations and examples: what a person reads about rules is what the rules do."""

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Example,
    Rule,
    Terms,
    explain,
    wrong_examples,
)

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
GIT = 'commands.all(c, c.program == "git")'


@pytest.mark.req("F11")
def test_each_rule_says_whether_it_matched_and_the_winner_is_marked() -> None:
    rules = [
        Rule("git", Action.ALLOW, frozenset(["bash"]), when=GIT),
        Rule("fails", Action.ALLOW, frozenset(["bash"]), when="arguments.nope == 1"),
        Rule("high", Action.ASK, risk=frozenset([Risk.HIGH])),
        Rule("files", Action.DENY, provider=frozenset(["filesystem"])),
    ]
    found = explain(rules, call(BASH, command="git status"), Terms(Asking.PERSON))
    assert found.verdict.decision is Decision.ALLOW
    assert [(one.rule.name, one.matched, one.decided) for one in found.rules] == [
        ("git", True, True),
        ("fails", False, False),
        ("high", True, False),
        ("files", False, False),
    ]
    assert "nope" in found.rules[1].why
    assert found.rules[3].why == "its provider is filesystem, not exec"
    assert found.view is not None
    assert [one.argv for one in found.view.commands] == [("git", "status")]


@pytest.mark.req("F11")
def test_why_a_command_is_unusable_is_said() -> None:
    rules = [Rule("git", Action.ALLOW, frozenset(["bash"]), when=GIT)]
    found = explain(rules, call(BASH, command="git -c a=b log"), Terms(Asking.PERSON))
    assert "git -c before the subcommand" in found.rules[0].why


@pytest.mark.req("K7", "F11")
@pytest.mark.parametrize("command", ['for x in a; do echo "$x"; done', "source .env", "$CMD"])
def test_a_forbid_of_what_it_cannot_read_blames_the_command_line_first(command: str) -> None:
    when = "commands.exists(c, c.program == 'git' && 'push' in c.argv)"
    rules = [Rule("never push", Action.FORBID, when=when, reason="people push")]
    found = explain(rules, call(BASH, command=command), Terms(Asking.PERSON))
    assert found.verdict.decision is Decision.DENY
    assert found.verdict.reason.startswith("the command line cannot be read (")
    assert "rule 'never push' forbids what it cannot read" in found.verdict.reason
    assert found.verdict.reason.endswith("; people push")
    assert found.rules[0].why + "; people push" == found.verdict.reason


@pytest.mark.req("F11")
@pytest.mark.parametrize(
    ("command", "matches", "right"),
    [
        ("git status", True, True),
        ("git status; rm x", True, False),
        ("git status; rm x", False, True),
        ("git status", False, False),
        ("$X", False, True),
    ],
)
def test_an_example_that_comes_out_otherwise_is_told(
    command: str, matches: bool, right: bool
) -> None:
    example = Example({"command": command}, matches)
    rule = Rule("git", Action.ALLOW, frozenset(["bash"]), when=GIT, examples=(example,))
    assert [one for one, _ in wrong_examples(rule)] == ([] if right else [example])
