"""S14: two hundred thousand calls in one kernel, and what it has kept of them."""

import gc
import os
import tempfile
from pathlib import Path

from bench.driving import ECHO, kernel, turns
from bench.memory import children, resident_mb
from bench.reading import Reading
from pluggableharness.kernel.kernel import Kernel

CALLS = 200_000
_AT_ONCE, _TURNS = 64, 25
"""A session of 1,600 calls; what a session keeps ends with it, as it should."""


async def rows() -> list[Reading]:
    """How memory and descriptors grew after the first tenth, in kernel and provider together."""
    per_session = _AT_ONCE * _TURNS
    sessions = CALLS // per_session
    with tempfile.TemporaryDirectory() as directory:
        async with kernel(ECHO, directory=Path(directory)) as running:
            for _ in range(sessions // 10):
                await _session(running)
            mb, descriptors = _held()
            for _ in range(sessions - sessions // 10):
                await _session(running)
            mb_later, descriptors_later = _held()
    growth = (mb_later - mb) / mb * 100
    opened = descriptors_later - descriptors
    what = f"growth of memory over {sessions * per_session:,} calls"
    return [
        Reading("S14", what, growth, "%", growth, "< 5", growth < 5),
        Reading("S14", "... and of open descriptors", opened, "", opened, "<= 0", opened <= 0),
    ]


async def _session(running: Kernel) -> None:
    await turns(running, [("echo.read", {"text": "once more"})] * _AT_ONCE, _TURNS)


def _held() -> tuple[float, int]:
    """Resident MB and open descriptors of this process and all below it."""
    gc.collect()
    family = [os.getpid(), *children(os.getpid())]
    descriptors = sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in family)
    return sum(resident_mb(pid) for pid in family), descriptors
