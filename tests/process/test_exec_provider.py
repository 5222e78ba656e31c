"""The exec provider as a host meets it: a process that speaks the wire, and may be killed."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
from google.protobuf import json_format
from process_tree import descendants, eventually, with_word
from provider_host import WAIT, Host, hosted

from bench.survive.hostile_programs import CHAINS, FOREST
from pluggableharness.providers import exec as exec_provider
from pluggableharness.wire import event_pb2, kernel_pb2, tool_pb2

PROGRAM = Path(exec_provider.__file__).with_name("__main__.py")
MORE_MEMORY = 64 * 1024 * 1024


@pytest.fixture(params=[{"sandbox": "none"}, {}], ids=["no sandbox", "as by default"])
async def host(request: pytest.FixtureRequest) -> AsyncIterator[Host]:
    # The path of a socket is short, and pytest's are not.
    with tempfile.TemporaryDirectory() as sockets:
        async with hosted(
            PROGRAM, Path(sockets), with_kernel=True, configuration=request.param
        ) as started:
            yield started


@pytest.fixture
def word() -> str:
    """Something to tell the processes of one test by, in their command lines."""
    return f"command-{uuid4().hex}"


def bash(host: Host, folder: Path, command: str, **arguments: Any) -> Any:
    call = {"command": command, **arguments}
    return host.invoke("bash", call, working_directory=str(folder))


async def last_event(stream: Any) -> tool_pb2.ToolEvent:
    """Take everything and throw it away, as a frontend that shows nothing does."""
    event = tool_pb2.ToolEvent()
    async with asyncio.timeout(WAIT):
        async for response in stream:
            event = response.event
    return event


async def rest_of(stream: Any) -> None:
    while (await stream.read()) is not grpc.aio.EOF:
        pass


def fields(struct: Any) -> dict[str, Any]:
    return json_format.MessageToDict(struct)


@pytest.mark.req("C10", "C12")
async def test_bash_is_declared_as_the_catalog_has_it(host: Host) -> None:
    tools = (await host.tools.GetSchema(tool_pb2.GetSchemaRequest())).tools
    (bash,) = (tool for tool in tools if tool.name == "bash")
    assert (bash.kind, bash.risk) == (tool_pb2.TOOL_KIND_RESOURCE, tool_pb2.RISK_CLASS_HIGH)
    assert not bash.concurrency.safe and not bash.idempotent and bash.streaming
    assert bash.default_timeout.seconds == 600
    assert list(bash.input_schema.required) == ["command"]
    assert set(bash.input_schema.properties) == {
        "command",
        "timeout_s",
        "working_directory",
        "description",
    }
    assert {"exit_code", "output", "truncated", "total_bytes", "duration_ms"} == set(
        bash.output_schema.required
    )


@pytest.mark.req("C10", "P10")
async def test_a_command_streams_exits_and_results_in_this_order(
    host: Host, tmp_path: Path
) -> None:
    async with asyncio.timeout(WAIT):
        events = [
            response.event async for response in bash(host, tmp_path, "echo out; echo err >&2")
        ]
    kinds = [event.WhichOneof("event") for event in events]
    assert kinds[-2:] == ["exit_status", "result"]
    assert set(kinds[:-2]) == {"output_chunk"}
    assert fields(events[-1].result.payload)["exit_code"] == 0


@pytest.mark.req("C10", "P14", "R7")
async def test_a_flood_ends_in_time_and_starves_nobody(host: Host, tmp_path: Path) -> None:
    """Case exec-08: the host's own loop goes on, and the provider keeps its memory."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.1)
            ticks += 1

    await last_event(bash(host, tmp_path, "echo warm"))
    before = peak_memory(host)
    ticker = asyncio.create_task(tick())
    event = await last_event(bash(host, tmp_path, "yes", timeout_s=2))
    ticker.cancel()
    assert event.error.category == tool_pb2.TOOL_ERROR_CATEGORY_TIMEOUT
    told = fields(event.error.details)
    assert told["total_bytes"] > 10_000_000
    assert told["truncated"] and len(told["output"]) < 100_000
    assert ticks >= 5
    assert peak_memory(host) - before < MORE_MEMORY


def peak_memory(host: Host) -> int:
    """Bytes of memory that the provider's process has held at most."""
    status = Path(f"/proc/{host.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


@pytest.mark.req("P25", "P26", "C10")
async def test_a_cancelled_call_reports_to_the_kernel_what_there_was(
    host: Host, tmp_path: Path, word: str
) -> None:
    stream = bash(host, tmp_path, f"echo begun; exec -a {word} sleep 600")
    async with asyncio.timeout(WAIT):
        first = await stream.read()
        assert first.event.output_chunk.data == b"begun\n"
        stream.cancel()
        assert host.kernel
        request, call_id = await host.kernel.emitted.get()
    assert (request.kind, call_id) == (kernel_pb2.EVENT_KIND_TOOL_RESULT, "call-1")
    error = event_pb2.ToolResultEvent.FromString(request.payload).error
    assert error.category == tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED
    told = fields(error.details)
    assert (told["output"], told["signal"], told["exit_code"]) == ("begun\n", "SIGTERM", 143)
    assert not with_word(word)


@pytest.mark.req("C11", "K16")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_nothing_outlives_a_provider_that_is_killed(
    host: Host, tmp_path: Path, word: str, number: signal.Signals
) -> None:
    """Detached and deaf processes too; there is no guard of the provider's own here."""
    command = (
        f"trap '' TERM; echo begun; setsid bash -c 'exec -a {word} sleep 600' & "
        f"(setsid -f bash -c 'exec -a {word} sleep 600'); exec -a {word} sleep 600"
    )
    stream = bash(host, tmp_path, command)
    async with asyncio.timeout(WAIT):
        await stream.read()
        await asyncio.to_thread(eventually, lambda: len(with_word(word)) >= 3, "it runs")
        tree = descendants(host.process.pid)
        os.kill(host.process.pid, number)
        with pytest.raises((grpc.RpcError, asyncio.CancelledError)):
            await rest_of(stream)
        await host.exit_code()
    await asyncio.to_thread(eventually, lambda: not with_word(word), "the command is gone")
    assert tree


@pytest.mark.req("R7", "C11")
@pytest.mark.parametrize(
    "command",
    [
        ":(){ :|:& };:",
        "while :; do (sleep 0.05 &); done",
        "while :; do (setsid sleep 0.05 &); done",
        "trap '' TERM; while :; do (sleep 0.05 &); done",
        "python3 forks.py; sleep 600",
        "python3 forest.py",
        "trap '' TERM HUP INT; while :; do sleep 600; done",
    ],
)
async def test_a_hostile_command_is_ended_in_time_and_leaves_nothing(
    host: Host, tmp_path: Path, command: str
) -> None:
    (tmp_path / "forest.py").write_text(FOREST)
    (tmp_path / "forks.py").write_text(CHAINS)
    event = await last_event(bash(host, tmp_path, command, timeout_s=0.5))
    assert event.WhichOneof("event") in ("result", "error")
    assert not descendants(host.process.pid)
    assert await host.result("bash", command="echo ok") == {
        "exit_code": 0,
        "output": "ok\n",
        "truncated": False,
        "total_bytes": 3,
        "duration_ms": pytest.approx(0, abs=WAIT * 1000),
    }
