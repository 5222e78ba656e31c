"""How bash's commands end, and that nothing of them is left."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from process.exec_calls import WAIT_S, details, let_go, payload, run
from process_tree import eventually, with_word

from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import ExitStatus, OutputChunk, Tool, opened

pytestmark = pytest.mark.req("C10")


@pytest.fixture
async def tool(tmp_path: Path) -> AsyncIterator[Tool]:
    """Without a sandbox, which would end what the guard is to end here."""
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "none"}) as tool:
        yield tool


@pytest.fixture
def word() -> str:
    """Something to tell the processes of one test by, in their command lines."""
    return f"command-{uuid4().hex}"


@pytest.mark.req("C11")
async def test_a_background_process_does_not_hold_the_call(tool: Tool, word: str) -> None:
    """Case exec-01: it holds the pipe; it is ended, and what it had printed is there."""
    outcome = await run(tool, f"(exec -a {word} sleep 60) & echo done", timeout_s=10)
    assert outcome.payload["exit_code"] == 0
    assert outcome.payload["output"] == "done\n"
    assert not with_word(word)


@pytest.mark.req("C11")
async def test_what_a_background_process_had_printed_is_kept(tool: Tool) -> None:
    command = "mkfifo f; (echo early; echo >f; exec sleep 60) & read <f; echo done"
    assert (await payload(tool, command))["output"] == "early\ndone\n"


@pytest.mark.req("C11")
async def test_a_background_server_does_not_hold_the_call(tool: Tool, word: str) -> None:
    """Case exec-02: there is no job control that would wait for it."""
    command = f"{sys.executable} -m http.server 0 --directory {word} >/dev/null 2>&1 &"
    assert (await payload(tool, command))["exit_code"] == 0
    assert not with_word(word)
    assert "m" not in (await payload(tool, "echo $-"))["output"]


@pytest.mark.req("C11")
@pytest.mark.parametrize(
    "command",
    [
        "exec -a {word} sleep 311; echo x",
        f"{sys.executable} -c 'import time; time.sleep(311)' {{word}}; echo x",
        "setsid bash -c 'exec -a {word} sleep 313' & setsid -f bash -c 'exec -a {word} sleep 314';"
        " exec -a {word} sleep 100",
        "trap '' TERM; (exec -a {word} sleep 311) & while :; do sleep 600; done",
    ],
)
async def test_a_timeout_leaves_no_process(tool: Tool, word: str, command: str) -> None:
    """Cases exec-03 and exec-04: children, detached children, and such as heed no TERM."""
    outcome = await run(tool, "echo before; " + command.format(word=word), timeout_s=1)
    told = details(outcome, Category.TIMEOUT)
    assert told["output"] == "before\n"
    assert told["signal"] in ("SIGTERM", "SIGKILL")
    assert outcome.error and "1 s" in outcome.error.message
    assert not with_word(word)


@pytest.mark.parametrize(
    ("command", "output", "exit_code", "signal"),
    [
        ("printf before; kill -9 $$", "before", 137, "SIGKILL"),
        ("kill -TERM $$", "", 143, "SIGTERM"),
        ("bash -c 'kill -9 $$'; exit $?", None, 137, None),
        ("kill -40 $$", "", 168, "SIG40"),
    ],
)
async def test_a_signal_is_a_result(
    tool: Tool, command: str, output: str | None, exit_code: int, signal: str | None
) -> None:
    """Case exec-12."""
    outcome = await run(tool, command)
    result = outcome.payload
    assert (result["exit_code"], result.get("signal")) == (exit_code, signal)
    assert output is None or result["output"] == output
    statuses = [event for event in outcome.events if isinstance(event, ExitStatus)]
    assert statuses == [ExitStatus(exit_code, signal)]


@pytest.mark.req("P13")
async def test_a_code_other_than_zero_is_a_result(tool: Tool) -> None:
    result = await payload(tool, "echo no >&2; exit 3")
    assert (result["exit_code"], result["output"]) == (3, "no\n")


@pytest.mark.req("P25", "P26")
async def test_a_cancelled_command_reports_what_there_was(tool: Tool, word: str) -> None:
    """Case exec-13: cancelled is not failed, and nothing is left."""
    call = tool.start("bash", command=f"echo begun; exec -a {word} sleep 100")
    async with asyncio.timeout(WAIT_S):
        await call.until(lambda event: isinstance(event, OutputChunk))
        outcome = await call.cancel()
    assert outcome.cancelled and outcome.report
    assert outcome.report["output"] == "begun\n"
    assert outcome.report["signal"] == "SIGTERM"
    assert not with_word(word)


@pytest.mark.req("P26")
async def test_what_is_printed_after_a_cancel_is_in_the_report(tool: Tool) -> None:
    command = "trap 'echo cleared up; exit' TERM; echo begun; sleep 600 & wait"
    call = tool.start("bash", command=command)
    async with asyncio.timeout(WAIT_S):
        await call.until(lambda event: isinstance(event, OutputChunk))
        outcome = await call.cancel()
    assert outcome.report and outcome.report["output"] == "begun\ncleared up\n"
    assert outcome.output() == b"begun\n"


@pytest.mark.parametrize("command", ["exit 3", "set -e; false", "exec true", "exec 1>&-"])
async def test_a_command_that_ends_its_shell_ends_no_other(tool: Tool, command: str) -> None:
    """Case exec-17."""
    first = await payload(tool, command)
    assert first["exit_code"] == {"exit 3": 3, "set -e; false": 1}.get(command, 0)
    assert (await payload(tool, "echo ok"))["output"] == "ok\n"


@pytest.mark.req("P10")
async def test_the_exit_status_comes_when_the_shell_ends_and_before_the_result(tool: Tool) -> None:
    """What it left behind heeds no TERM, so the result takes longer than the status."""
    command = "mkfifo go; (trap '' TERM; echo >go; while :; do sleep 600; done) & read <go"
    call = tool.start("bash", command=command)
    async with asyncio.timeout(WAIT_S):
        await call.until(lambda event: isinstance(event, ExitStatus))
        assert len(call.events) == 1
        assert (await call).payload["exit_code"] == 0


@pytest.mark.req("C11")
async def test_commands_of_two_calls_do_not_end_each_other(tool: Tool) -> None:
    """Sub-agents may share a process: each command has a guard of its own."""
    command = "mkfifo go; echo ready; read <go; echo survived"
    first = tool.start("bash", command=command)
    async with asyncio.timeout(WAIT_S):
        await first.until(lambda event: isinstance(event, OutputChunk))
        await run(tool, "sleep 60 & sleep 60 & exit 0")
        await run(tool, "sleep 60", timeout_s=0.1)
        await asyncio.to_thread(let_go, Path(tool._cwd / "go"))
        assert (await first).payload["output"] == "ready\nsurvived\n"


@pytest.mark.req("K16")
async def test_a_guard_that_is_killed_is_told_and_takes_its_command_along(tmp_path: Path) -> None:
    """In a sandbox it cannot be."""
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "none"}) as tool:
        outcome = await run(tool, "kill -9 $PPID; sleep 60")
    assert outcome.error and outcome.error.category is Category.EXECUTION_FAILED
    assert "not known" in outcome.error.message


async def test_no_descriptor_is_left_open(tool: Tool) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    await run(tool, "echo hi")
    before = opened()
    for command in ("seq 100000", "sleep 9", "echo ".ljust(200_000, "x"), "exit 1"):
        await run(tool, command, timeout_s=0.5)
    # The thread that writes the file closes it, in its own time.
    await asyncio.to_thread(eventually, lambda: opened() == before, "all are closed")
