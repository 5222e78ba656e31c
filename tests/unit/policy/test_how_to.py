"""The how-to's rules, and those of the README, are right and say what the page says of them."""

import re
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.config.known import built_in
from pluggableharness.kernel.config.load import load
from pluggableharness.kernel.config.source import Source
from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import Asking, Rule, RuleBook, Terms, decide
from pluggableharness.kernel.policy.conditions import VARIABLES
from pluggableharness.kernel.policy.facts import Facts
from pluggableharness.kernel.policy.shell import shell_view

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "write-policy.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BASH = operation("bash", provider="exec", risk=Risk.HIGH)


def blocks(page: str) -> list[str]:
    return re.findall(r"```hcl\n(.*?)```", page, re.DOTALL)


def rules(text: str, project: Path = Path("/project")) -> tuple[Rule, ...]:
    source = Source("page", text)
    place = project / "agent.hcl"
    config = load(place, source, {}, built_in(), working_directory=place.parent, version="1")
    return config.rules


@pytest.mark.req("K7", "F11")
@pytest.mark.parametrize("page", [PAGE, README])
@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git status --short", Decision.ALLOW),
        ("git log | git diff", Decision.ALLOW),
        ("git", Decision.ASK),
        ("git status; rm x", Decision.ASK),
        ("git status > f", Decision.ASK),
        ("git push", Decision.DENY),
        ('echo "$HOME"; source x.sh', Decision.ASK),
        ('for x in a b; do echo "$x"; done', Decision.ASK),
        ("git status && nohup git push", Decision.DENY),
        ("git -C x push", Decision.ASK),
    ],
)
def test_git_is_looked_at_without_asking_and_never_pushed(
    page: str, command: str, decision: Decision
) -> None:
    (text,) = (one for one in blocks(page) if "never push" in one)
    verdict = decide(RuleBook(rules(text)), call(BASH, command=command), Terms(Asking.PERSON))
    assert verdict.decision is decision


@pytest.mark.req("K7", "F11")
def test_the_table_names_all_that_a_condition_sees() -> None:
    (one,) = shell_view("ls").commands
    facts = Facts(call(BASH, command="ls"))
    session = facts._variables["session"]
    assert isinstance(session, dict)
    fields = [*(f"session.{name}" for name in session), *one.facts()]
    assert [
        name for name in (*VARIABLES, *fields) if name != "session" and f"`{name}`" not in PAGE
    ] == []


@pytest.mark.req("K7")
def test_a_field_that_is_not_there_matches_no_allow_and_every_deny() -> None:
    text = 'policy "a" {\n  when   = "arguments.comand == \'x\'"\n  action = "ACTION"\n}\n'
    found = {
        action: decide(
            RuleBook(rules(text.replace("ACTION", action))),
            call(BASH, command="ls"),
            Terms(Asking.PERSON),
        ).decision
        for action in ("allow", "deny")
    }
    assert found == {"allow": Decision.ASK, "deny": Decision.DENY}
