"""Reviewers: real executables that answer, dawdle, fail and talk nonsense."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision, Review, Reviewer, Verdict
from pluggableharness.kernel.models.reviewer import Unavailable, ask
from pluggableharness.kernel.policy import Opinion, opinion, reviewed

BASH = operation("bash", provider="exec", risk=Risk.HIGH)


async def asked(tmp_path: Path, code: str, limit_s: float = 30.0) -> str:
    proposed = call(BASH, command="make")
    proposed = replace(proposed, context=replace(proposed.context, working_directory=str(tmp_path)))
    return await ask(Reviewer(command=(sys.executable, "-c", code)), proposed, None, limit_s)


@pytest.mark.req("K8")
async def test_an_executable_is_shown_the_call_and_its_answer_is_taken(tmp_path: Path) -> None:
    code = """
import json, sys
call = json.load(sys.stdin)
assert call["risk"] == "high"
print(json.dumps({"decision": "deny", "reason": call["arguments"]["command"]}))
"""
    assert opinion(await asked(tmp_path, code)) == Opinion(Decision.DENY, "make")


@pytest.mark.req("K8")
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import time; time.sleep(60)", "no answer within"),
        ("import sys; sys.exit(3)", "status 3"),
        ("print('x' * 100_000)", "64 KiB"),
        ("import os; os.close(1); import time; time.sleep(60)", "no answer within"),
    ],
)
async def test_no_answer_is_unavailable(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(Unavailable, match=why):
        await asked(tmp_path, code, limit_s=1.0)


@pytest.mark.req("K8")
async def test_what_cannot_be_started_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="cannot be started"):
        await ask(Reviewer(command=("/does/not/exist",)), call(BASH, command="x"), None)
    with pytest.raises(Unavailable, match="no such reviewer"):
        await ask(Reviewer(profile="p"), call(BASH, command="x"), None)


@pytest.mark.req("K8")
async def test_a_model_is_shown_the_call_alone() -> None:
    async def model(profile: str, prompt: str) -> str:
        assert profile == "careful"
        assert '"command":"make"' in prompt
        return '{"decision": "allow", "reason": "a build"}'

    said = await ask(Reviewer(profile="careful"), call(BASH, command="make"), model)
    assert opinion(said) == Opinion(Decision.ALLOW, "a build")


@pytest.mark.req("K8")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "allow",
        "null",
        "[]",
        '{"decision": "yes"}',
        '{"decision": "allow", "reason": 1}',
        '{"decision": "allow"} or so',
        "[" * 100_000,
        '{"decision": null}',
    ],
)
def test_nonsense_is_no_opinion(text: str) -> None:
    assert opinion(text).decision is None


@pytest.mark.req("K8")
@pytest.mark.parametrize("decision", [None, Decision.ASK])
def test_without_an_answer_the_person_is_asked_and_headless_it_is_denied(
    decision: Decision | None,
) -> None:
    reviewer = Reviewer(profile="careful")
    for otherwise in (
        Verdict(Decision.ASK, "rule r"),
        Verdict(Decision.DENY, "rule r", "nobody is here", downgraded_from=Decision.ASK),
    ):
        found = reviewed(Review(reviewer, otherwise), Opinion(decision, "why"))
        assert found.decision is otherwise.decision
        assert found.downgraded_from is otherwise.downgraded_from
        assert ("unavailable" in found.reason) == (decision is None)
        assert "why" in found.reason
    denied = reviewed(Review(reviewer, otherwise), Opinion(Decision.DENY, "bad"))
    assert denied == Verdict(Decision.DENY, "reviewer careful", "bad")
