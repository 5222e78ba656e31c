"""Reviewers: real executables that answer, dawdle, fail, flood and talk nonsense (K8)."""

import asyncio
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from process_tree import alive
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import (
    Decision,
    Opined,
    Opinion,
    Review,
    Reviewer,
    Verdict,
)
from pluggableharness.kernel.models.reviewer import Doors, Unavailable, ask
from pluggableharness.kernel.plugins.program import answer_of
from pluggableharness.kernel.policy import opinion, reviewed

BASH = operation("bash", provider="exec", risk=Risk.HIGH)


async def no_model(profile: str, prompt: str) -> str:
    raise ModelFailed(f"there is no agent profile '{profile}'")


async def asked(tmp_path: Path, code: str, limit_s: float = 30.0, command: str = "make") -> str:
    proposed = call(BASH, command=command)
    proposed = replace(proposed, context=replace(proposed.context, working_directory=str(tmp_path)))
    reviewer = Reviewer(command=(sys.executable, "-c", code))
    return await ask(reviewer, proposed, Doors(no_model, answer_of, limit_s))


@pytest.mark.req("K8")
async def test_an_executable_is_shown_the_call_and_its_answer_is_taken(tmp_path: Path) -> None:
    code = """
import json, sys
call = json.load(sys.stdin)
assert call["risk"] == "high"
print(json.dumps({"decision": "deny", "reason": call["arguments"]["command"]}))
"""
    assert opinion(await asked(tmp_path, code)) == Opinion(Opined.DENY, "make")


@pytest.mark.req("K8")
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import time; time.sleep(60)", "no answer within"),
        ("import sys; sys.exit(3)", "status 3"),
        ("import os; os.abort()", "signal SIGABRT"),
        ("print('x' * 100_000)", "64 KiB"),
        ("while True: print('x' * 100_000)", "64 KiB"),
        ("import signal; signal.signal(15, 1)\nwhile True: print('x' * 9000)", "64 KiB"),
        ("import os; os.close(1); import time; time.sleep(60)", "no answer within"),
    ],
)
async def test_no_answer_is_unavailable(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(Unavailable, match=why):
        await asked(tmp_path, code, limit_s=1.0)


@pytest.mark.req("K8")
async def test_what_cannot_be_started_is_unavailable(tmp_path: Path) -> None:
    not_executable = tmp_path / "review"
    not_executable.write_text("#!/bin/sh\n")
    doors = Doors(no_model, answer_of)
    for command in ("/does/not/exist", str(tmp_path), str(not_executable), "no-such-program-here"):
        with pytest.raises(Unavailable, match="cannot be started"):
            await ask(Reviewer(command=(command,)), call(BASH, command="x"), doors)
    with pytest.raises(Unavailable, match="there is no agent profile 'p'"):
        await ask(Reviewer(profile="p"), call(BASH, command="x"), doors)


LEAVES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True, file=open("left", "w"))
        time.sleep(600)
    os._exit(0)
while not os.path.exists("left") or not open("left").read():
    time.sleep(0.01)
"""
"""Leaves a process behind that has left its group, its session and its parent."""


@pytest.mark.req("K8", "K16")
@pytest.mark.parametrize(
    "then", ['print(\'{"decision": "allow"}\')', "time.sleep(600)", "os.abort()"]
)
async def test_nothing_that_a_reviewer_started_outlives_it(tmp_path: Path, then: str) -> None:
    answers = "allow" in then
    with nullcontext() if answers else pytest.raises(Unavailable):
        await asked(tmp_path, LEAVES + then, limit_s=5.0)
    assert not alive(int((tmp_path / "left").read_text()))


@pytest.mark.req("K8", "K17")
async def test_a_cancelled_session_takes_its_reviewer_with_it(tmp_path: Path) -> None:
    asking = asyncio.create_task(asked(tmp_path, LEAVES + "time.sleep(600)"))
    async with asyncio.timeout(30):
        while not (tmp_path / "left").exists() or not (tmp_path / "left").read_text():
            await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not alive(int((tmp_path / "left").read_text()))


@pytest.mark.req("K8")
async def test_a_call_of_megabytes_neither_holds_up_nor_breaks_a_reviewer_that_reads_none_of_it(
    tmp_path: Path,
) -> None:
    said = await asked(tmp_path, 'print(\'{"decision": "ask"}\')', command="x" * 5_000_000)
    assert opinion(said).answer is Opined.ASK


@pytest.mark.req("P31", "F6", "K8")
async def test_a_reviewer_gets_no_secret_of_the_kernels_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "canary")
    said = await asked(tmp_path, "import os; print(dict(os.environ))")
    assert "PATH" in said
    assert "canary" not in said


@pytest.mark.req("K8")
async def test_a_model_is_shown_the_call_alone() -> None:
    async def model(profile: str, prompt: str) -> str:
        assert profile == "careful"
        assert '"command":"make"' in prompt
        return '{"decision": "allow", "reason": "a build"}'

    doors = Doors(model, answer_of)
    said = await ask(Reviewer(profile="careful"), call(BASH, command="make"), doors)
    assert opinion(said) == Opinion(Opined.ALLOW, "a build")


@pytest.mark.req("K8")
async def test_a_model_that_never_answers_is_unavailable() -> None:
    async def model(profile: str, prompt: str) -> str:
        await asyncio.Event().wait()
        return ""

    with pytest.raises(Unavailable, match="no answer within"):
        await ask(
            Reviewer(profile="careful"), call(BASH, command="x"), Doors(model, answer_of, 0.05)
        )


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
        '{"decision": "unavailable"}',
        '{"decision": ["allow"]}',
    ],
)
def test_nonsense_is_no_opinion(text: str) -> None:
    assert opinion(text).answer is Opined.UNAVAILABLE


@pytest.mark.req("K8")
@pytest.mark.parametrize("answer", [Opined.UNAVAILABLE, Opined.ASK])
def test_without_an_answer_the_person_is_asked_and_headless_it_is_denied(answer: Opined) -> None:
    reviewer = Reviewer(profile="careful")
    for otherwise in (
        Verdict(Decision.ASK, "rule r"),
        Verdict(Decision.DENY, "rule r", "nobody is here", downgraded_from=Decision.ASK),
    ):
        found = reviewed(Review(reviewer, otherwise), Opinion(answer, "why"))
        assert found.opinion == Opinion(answer, "why")
        assert found.decision is otherwise.decision
        assert found.downgraded_from is otherwise.downgraded_from
        assert ("unavailable" in found.reason) == (answer is Opined.UNAVAILABLE)
        assert "why" in found.reason
    bad = Opinion(Opined.DENY, "bad")
    denied = reviewed(Review(reviewer, otherwise), bad)
    assert denied == Verdict(Decision.DENY, "reviewer careful", "bad", opinion=bad)
