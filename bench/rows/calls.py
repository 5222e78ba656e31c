"""S1, S2, S3, S15: small calls through everything."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from bench.driving import ECHO, kernel, turns
from bench.reading import Reading, alternating, at_least, at_most, median
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import ToolResult
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.kernel import Kernel
from pluggableharness.kernel.store.log import EventLog

PEER = "FastMCP over stdio"
TEXT = {"text": "a small call"}
_CALLS = 300
_AT_ONCE = 64


async def rows() -> list[Reading]:
    """All of them, over one kernel and one peer."""
    with tempfile.TemporaryDirectory() as directory:
        async with kernel(ECHO, directory=Path(directory)) as running, _peer() as peer:
            await turns(running, [("echo.read", TEXT)], 50)
            return [
                *await _one_call(running, peer),
                await _many(running, peer),
                await _own_share(running, Path(directory)),
                await _opened_at_once(running),
            ]


@asynccontextmanager
async def _peer() -> AsyncIterator["Client[StdioTransport]"]:
    script = Path(__file__).parents[1] / "peers" / "mcp_echo.py"
    async with Client(StdioTransport(sys.executable, [str(script)])) as client:
        for _ in range(50):
            await client.call_tool("echo", TEXT)
        yield client


async def _one_call(running: Kernel, peer: "Client[StdioTransport]") -> list[Reading]:
    async def ours(operation: str) -> float:
        seconds, _ = await turns(running, [(operation, TEXT)], _CALLS)
        return median(seconds) * 1e3

    async def theirs() -> float:
        seconds = []
        for _ in range(_CALLS):
            began = time.perf_counter()
            await peer.call_tool("echo", TEXT)
            seconds.append(time.perf_counter() - began)
        return median(seconds) * 1e3

    read = await alternating(lambda: ours("echo.read"), theirs)
    act = await alternating(lambda: ours("echo.act"), theirs)
    return [
        at_most("S1", "one small data source call, p50", read, "ms", 0.6, PEER),
        at_most("S1", "one small resource call, p50", act, "ms", 0.75, PEER),
    ]


async def _many(running: Kernel, peer: "Client[StdioTransport]") -> Reading:
    async def ours() -> float:
        seconds, _ = await turns(running, [("echo.read", TEXT)] * _AT_ONCE, 20)
        return _AT_ONCE / median(seconds)

    async def theirs() -> float:
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            await asyncio.gather(*(peer.call_tool("echo", TEXT) for _ in range(_AT_ONCE)))
            seconds.append(time.perf_counter() - began)
        return _AT_ONCE / median(seconds)

    sides = await alternating(ours, theirs)
    return at_least("S2", "calls a second, 64 at a time", sides, "/s", 4, PEER)


async def _own_share(running: Kernel, directory: Path) -> Reading:
    """The whole turn less what a bare stream to the same provider and a bare commit take."""
    shares = []
    for _ in range(5):
        seconds, _ = await turns(running, [("echo.read", TEXT)], _CALLS)
        bare = await _bare_stream(running)
        commit = await _bare_commit(directory)
        shares.append((median(seconds) - bare - commit) * 1e6)
    share = median(shares)
    return Reading(
        "S3", "the kernel's own share of S1, p50", share, "µs", share, "<= 120", share <= 120
    )


async def _bare_stream(running: Kernel) -> float:
    """Seconds of a unary-stream call with the same messages to the same process, and no more."""
    from pluggableharness.wire import tool_pb2
    from pluggableharness.wire.structs import to_struct

    process = await running._processes._seats["echo", None].process()
    invoke = process.calls._channel.unary_stream("/pluggableharness.tool.v1.ToolService/Invoke")
    request = tool_pb2.InvokeRequest(
        call=tool_pb2.ToolCall(id=ulid(), tool_name="read", arguments=to_struct(TEXT))
    ).SerializeToString()
    seconds = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        async for _ in invoke(request):
            pass
        seconds.append(time.perf_counter() - began)
    return median(seconds)


async def _bare_commit(directory: Path) -> float:
    log = EventLog.create(directory / "logs", ulid())
    payload = b"x" * 150
    seconds = []
    for _ in range(_CALLS):
        log.append(EventKind.TOOL_RESULT, payload, schema_version="event.v1")
        began = time.perf_counter()
        await log.sync()
        seconds.append(time.perf_counter() - began)
    await log.close()
    return median(seconds)


async def _opened_at_once(running: Kernel) -> Reading:
    count = 2000
    _, session = await turns(running, [("echo.read", TEXT)] * count, 1)
    answered = sum(
        isinstance(block, ToolResult) and isinstance(block.outcome, Success)
        for message in session.history
        for block in message.blocks
    )
    return Reading(
        "S15", f"of {count:,} calls opened at once, answered", answered, "calls", answered,
        f"= {count}", answered == count,
    )  # fmt: skip
