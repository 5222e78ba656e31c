"""Rules over commands reach what a call runs, by whatever argument it says so."""

from dataclasses import replace
from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Facts,
    Rule,
    RuleBook,
    Terms,
    decide,
    granted,
    scopes,
)

pytestmark = pytest.mark.req("K7")

RUN = operation("run", provider="ops", risk=Risk.HIGH)
LOOK = operation("look", Kind.DATA_SOURCE, provider="ops")
SHELL_READ = operation("shell_read", Kind.DATA_SOURCE, provider="exec")
TERMS = Terms(Asking.PERSON, gate_reads=True)
PUSH = "commands.exists(c, c.program == 'git' && 'push' in c.argv)"
ANY = Rule("any", Action.ALLOW)
PUSHES: list[dict[str, Any]] = [
    {"command": "git push"},
    {"command": "git", "args": ["push"]},
    {"command": "nohup", "args": ["git", "push"]},
    {"command": "git push", "args": None},
    {"command": ["git", "push"]},
    {"command": ["sh", "-c", "git push"]},
    {"command": ["sh", "-c", "cd x; git push"]},
    {"cmd": "git push"},
    {"cmd": ["git"], "args": ["push"]},
    {"argv": ["/usr/bin/git", "push"]},
    {"argv": ["git", "push"], "working_directory": "x"},
    {"command_line": "ls && git push"},
    {"command": "ls", "cmd": "; git push"},
]


@pytest.mark.parametrize("arguments", PUSHES)
@pytest.mark.parametrize("of", [RUN, LOOK, SHELL_READ])
def test_a_forbid_of_a_command_holds_however_the_call_says_it(
    of: Any, arguments: dict[str, Any]
) -> None:
    made = call(of, **arguments)
    for action in (Action.FORBID, Action.DENY):
        rule = Rule("never push", action, when=PUSH)
        assert decide(RuleBook([rule, ANY]), made, TERMS).decided_by == "rule never push"


@pytest.mark.parametrize(
    "arguments",
    [{"argv": ["echo", "git push"]}, {"argv": ["echo", "; git push"]}, {"argv": ["ls", "$(git)"]}],
)
def test_words_that_no_shell_reads_are_what_they_are(arguments: dict[str, Any]) -> None:
    rules = RuleBook([Rule("never push", Action.FORBID, when=PUSH), ANY])
    assert decide(rules, call(SHELL_READ, **arguments), TERMS).decision is Decision.ALLOW


def test_words_that_cannot_be_understood_are_forbidden_as_a_line_would_be() -> None:
    rules = RuleBook([Rule("never push", Action.FORBID, when=PUSH), ANY])
    for argv in ([], ["A=1", "git"], ["awk", "x"]):
        assert decide(rules, call(SHELL_READ, argv=argv), TERMS).decision is Decision.DENY


@pytest.mark.parametrize(
    "arguments",
    [
        *({"steps": [{"command": "git push"}]}, {"script": "git push"}, {"task": "git push"}),
        *({"args": ["git", "push"]}, {"command": {"git": "push"}}, {"argv": ["git", 1]}),
    ],
)
def test_what_no_argument_is_known_to_say_is_no_command(arguments: dict[str, Any]) -> None:
    """docs/design/policy.md says so: a rule that must hold there names the operation."""
    assert Facts(call(RUN, **arguments)).view is None


def test_files_that_arguments_name_beside_words_count_as_before() -> None:
    made = call(RUN, argv=["tee", "a"], output="b")
    for path in ("a", "b"):
        shut = Rule("shut", Action.DENY, when=f"writes.exists(w, w == '{path}')")
        assert decide(RuleBook([shut, ANY]), made, TERMS).decision is Decision.DENY
    read = call(SHELL_READ, argv=["cat", "f"], working_directory="secrets")
    shut = Rule("shut", Action.DENY, when="working_directory == 'secrets'")
    assert decide(RuleBook([shut, ANY]), read, TERMS).decision is Decision.DENY


@pytest.mark.req("K10")
def test_words_are_granted_as_they_stand() -> None:
    ask = Rule("ask", Action.ASK, frozenset(["run", "shell_read"]))
    for of in (RUN, SHELL_READ):
        asked = call(of, argv=["git", "log"], working_directory="x")
        (scope,) = scopes(asked, ask)
        assert scope.covers == 'exactly this command, in x, with argv = ["git", "log"]'
        book = RuleBook([ask, granted(asked, ask, scope)])
        assert decide(book, asked, TERMS).decision is Decision.ALLOW
        for other in ({"argv": ["git", "log", "-3"]}, {"working_directory": "y"}, {"env": "A"}):
            changed = replace(asked, arguments={**asked.arguments, **other})
            assert decide(book, changed, TERMS).decision is Decision.ASK
