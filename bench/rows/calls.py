"""S1, S2, S3, S15: small calls through everything."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from bench.driving import ECHO, Discard, Metronome, kernel, turns
from bench.reading import Reading, alternating, at_least, at_most, median
from pluggableharness.kernel.domain.message import ToolResult
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.kernel import Kernel
from pluggableharness.kernel.plugins.calls import Calls
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
                await _own_share(running),
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


async def _own_share(running: Kernel) -> Reading:
    """The turns less what each of them waited for the RPC and for the commit.

    Both are timed where they happen. A bare stream and a bare commit in loops of their own are
    faster than the same two within a turn, and the difference is not the kernel's.
    """
    process = await running._processes._seats["echo", None].process()
    waits = _Waits()
    shares = []
    with waits.of(process.calls):
        for _ in range(5):
            seconds, before = await _watched(running, waits)
            waited = [later - earlier for earlier, later in pairwise(before)]
            shares += [all_ - some for all_, some in zip(seconds, waited, strict=False)]
    share = median(shares) * 1e6
    return Reading(
        "S3", "the kernel's own share of S1, p50", share, "µs", share, "<= 120", share <= 120
    )


async def _watched(running: Kernel, waits: "_Waits") -> tuple[list[float], list[float]]:
    """The seconds of each turn, and how many had been waited before each."""
    before: list[float] = []
    model = Metronome([[("echo.read", TEXT)]] * _CALLS, lambda turn: before.append(waits.seconds))
    async with running.session(model, Discard()) as session:
        await session.run("bench")
    return model.seconds, [*before, waits.seconds]


class _Waits:
    """Adds up what turns wait for: all that goes on between a call and gRPC, and the commits."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def of(self, calls: Calls) -> Iterator[None]:
        """Watch one process's calls, and every log."""
        invoke, sync = calls._invoke, EventLog.sync

        def timed_invoke(*args: object, **named: object) -> object:
            began = time.perf_counter()
            rpc = invoke(*args, **named)
            self.seconds += time.perf_counter() - began
            return _Timed(rpc, self)

        async def timed_sync(log: EventLog) -> None:
            await self.timed(sync(log))

        with (
            patch.object(calls, "_invoke", timed_invoke),
            patch.object(EventLog, "sync", timed_sync),
        ):
            yield

    async def timed(self, waiting: Awaitable[Any]) -> Any:
        """What it comes to; its time counts."""
        began = time.perf_counter()
        try:
            return await waiting
        finally:
            self.seconds += time.perf_counter() - began


class _Timed:
    """An RPC whose reads count."""

    def __init__(self, rpc: Any, waits: _Waits) -> None:
        self._rpc = rpc
        self._waits = waits

    async def read(self) -> object:
        """The next message."""
        return await self._waits.timed(self._rpc.read())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rpc, name)


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
