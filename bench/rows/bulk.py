"""S9: a gigabyte of a command's output through to a frontend that discards it."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc

from bench.driving import Calls, Discard, Metronome, kernel
from bench.memory import children, peak_mb, reset_peak
from bench.reading import Reading, alternating, at_least
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.kernel import Kernel

BYTES = 1 << 30


async def rows() -> list[Reading]:
    """The throughput, and how much more memory it took."""
    grown: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        async with kernel(first_party("exec"), directory=place) as running, Peer(place) as peer:
            sides = await alternating(lambda: _through(running, grown), peer)
    more = max(grown)
    return [
        at_least("S9", "1 GiB of a command's output", sides, "MB/s", 0.5, "bare grpc.aio"),
        Reading("S9", "... and the memory that it took", more, "MB", more, "< 64", more < 64),
    ]


async def _through(running: Kernel, grown: list[float]) -> float:
    """MB a second of one command; notes the most memory that a process took beyond its start."""
    started: dict[int, float] = {}

    def note(turn: int) -> None:
        if turn == 1:
            family = [os.getpid(), *children(os.getpid())]
            started.update({pid: reset_peak(pid) for pid in family})

    warm: Calls = [("exec.bash", {"command": "true"})]
    bulk: Calls = [("exec.bash", {"command": f"head -c {BYTES} /dev/zero", "timeout_s": 300})]
    model = Metronome([warm, bulk], note)
    async with running.session(model, Discard()) as session:
        await session.run("bench")
        grown.append(max(peak_mb(pid) - mb for pid, mb in started.items() if _there(pid)))
    return BYTES / model.seconds[1] / 1e6


def _there(pid: int) -> bool:
    return Path(f"/proc/{pid}/status").exists()


class Peer:
    """A bare server in a process of its own; entered, it gives a function that measures it."""

    def __init__(self, directory: Path) -> None:
        self._address = f"unix:{directory}/bulk"

    async def __aenter__(self) -> Callable[[], Awaitable[float]]:
        script = Path(__file__).parents[1] / "peers" / "bulk.py"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(script), self._address, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        await self._process.stdout.readline()
        self._channel = grpc.aio.insecure_channel(self._address)
        stream: Any = self._channel.unary_stream("/bench.Bulk/Stream")

        async def once() -> float:
            began = time.perf_counter()
            received = 0
            async for piece in stream(str(BYTES).encode()):
                received += len(piece)
            return received / (time.perf_counter() - began) / 1e6

        return once

    async def __aexit__(self, *error: object) -> None:
        await self._channel.close()
        self._process.kill()
        await self._process.wait()
