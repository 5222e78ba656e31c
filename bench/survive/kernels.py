"""R2: the kernel of a busy session killed, at named points and anywhere, then resumed."""

import asyncio
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.driving import Discard
from bench.survive.busy import FILES, busy, content, fault_of, setup
from bench.survive.doomed import POINTS
from bench.survive.processes import with_mark
from bench.survive.survived import Survived
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.store.reading import verify

ID = "R2"
SIZE = 300
_WITHIN_S = 2.0
"""How long a provider or a child of one may outlive the kernel."""

_MOST_TIMES = {
    "before a write": 40,
    "after a write": 40,
    "before a send": 22,
    "after a send": 22,
    "after an answer": 22,
    "before an acknowledgement": 40,
    "anywhere": 2500,
}
"""Times that a point comes up in a session, about; milliseconds for the last."""


@dataclass
class _Tally:
    """What was counted over all kills."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    longest_s: float = 0.0
    acknowledged: int = 0


async def run(count: int) -> Survived:
    """Kill so many kernels, each with a log of its own; all work in one directory."""
    chance, tally = random.Random(count), _Tally()
    doomed, living = secrets.token_hex(8), secrets.token_hex(8)
    with tempfile.TemporaryDirectory() as name, state_below(Path(name, "state")):
        project = Path(name, "project")
        project.mkdir()
        for file in FILES:
            (project / file).write_text(content(-1))
        async with opened(setup(project, living)) as kernel:
            for number in range(count):
                point = POINTS[number % len(POINTS)]
                fault = await _one(kernel, project, doomed, living, point, chance, tally)
                if fault:
                    tally.faults.append(f"kill {number + 1}, {point}: {fault}")
    counts = {
        **tally.counts,
        "rows acknowledged": tally.acknowledged,
        "longest s until all processes were gone": tally.longest_s,
    }
    left = tuple(f"process {pid}" for mark in (doomed, living) for pid in with_mark(mark))
    return Survived(ID, f"killed a busy kernel {count} times", counts, tuple(tally.faults), left)


@contextmanager
def state_below(directory: Path) -> Iterator[None]:
    """Records in a place that is removed afterwards."""
    before = os.environ.get("XDG_STATE_HOME")
    directory.mkdir(mode=0o700)
    os.environ["XDG_STATE_HOME"] = str(directory)
    try:
        yield
    finally:
        os.environ.pop("XDG_STATE_HOME")
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before


async def _one(
    kernel: Kernel,
    project: Path,
    doomed: str,
    living: str,
    point: str,
    chance: random.Random,
    tally: _Tally,
) -> str:
    """One kill and what must hold after it; what did not, or nothing."""
    sessions = Path(os.environ["XDG_STATE_HOME"], "pluggableharness", "sessions")
    before = set(sessions.glob("*.sqlite"))
    acks = project.parent / "acks"
    acks.unlink(missing_ok=True)
    times = chance.randint(1, _MOST_TIMES[point])
    status = await _killed(project, doomed, acks, point, times)
    tally.counts["killed" if status == -9 else "done before the kill"] += 1
    if status not in (-9, 0):
        return f"the kernel ended by itself with {status}"
    lived = await _outlived(doomed)
    tally.longest_s = max(tally.longest_s, lived)
    if lived > _WITHIN_S:
        return f"processes were left after {lived:.1f} s"
    if wrong := [fault for file in FILES if (fault := fault_of(project / file))]:
        return "; ".join(wrong)
    logs = set(sessions.glob("*.sqlite")) - before
    if not logs:
        tally.counts["killed before there was a record"] += 1
        return "rows were acknowledged, and there is no log" if _acknowledged(acks) else ""
    (log,) = logs
    return await _checked(kernel, log, _acknowledged(acks), living, tally)


async def _killed(project: Path, mark: str, acks: Path, point: str, times: int) -> int:
    words = (str(project), mark, str(acks), point, str(times))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.survive.doomed", *words, stdin=asyncio.subprocess.DEVNULL
    )
    return await asyncio.wait_for(process.wait(), 120)


async def _outlived(mark: str) -> float:
    """Seconds until no process of the dead kernel's is left; infinite when one stays."""
    began = time.perf_counter()
    while with_mark(mark):
        if time.perf_counter() - began > 5 * _WITHIN_S:
            return float("inf")
        await asyncio.sleep(0.01)
    return time.perf_counter() - began


def _acknowledged(acks: Path) -> int:
    said = acks.read_bytes() if acks.exists() else b""
    return max(
        (int.from_bytes(said[at : at + 8], "big") for at in range(0, len(said), 8)), default=0
    )


async def _checked(kernel: Kernel, log: Path, acknowledged: int, mark: str, tally: _Tally) -> str:
    """The log verifies, holds what was acknowledged, and its session goes on to its end."""
    tally.acknowledged += acknowledged
    report = verify(log)
    if not report.ok:
        return report.fault
    if report.rows < acknowledged:
        return f"{acknowledged} rows were acknowledged and {report.rows} are there"
    try:
        async with kernel.resumed(log, lambda before: busy(mark), Discard()) as (session, before):
            tally.counts["calls left open"] += before.left is not None
            end = await session.resume(before)
    except HarnessError as error:
        return f"it could not be resumed: {error}"
    tally.counts["resumed and completed"] += end.status is SessionStatus.COMPLETED
    if end.status is not SessionStatus.COMPLETED:
        return f"resumed, it ended as {end.status.value}: {end.reason}"
    if not well_formed(session.history):
        return "a call has not exactly one result"
    again = verify(log)
    return again.fault


def well_formed(history: Sequence[Message]) -> bool:
    """Whether every message with calls is followed by one result for each, in order (K2)."""
    return all(
        [call.tool_use_id for call in message.calls]
        == [b.tool_use_id for b in history[at + 1].blocks if isinstance(b, ToolResult)]
        for at, message in enumerate(history)
        if message.calls
    )
