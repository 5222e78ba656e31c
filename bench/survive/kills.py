"""R1: a provider killed in the middle of a call, again and again, each in a session of its own."""

import os
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.driving import Calls, Discard, Metronome
from bench.survive.kernels import state_below
from bench.survive.processes import with_mark
from bench.survive.survived import Survived
from pluggableharness.kernel.domain.news import CallEnded, CallEvent, News
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Progress, Success
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.setup import Setup

ID = "R1"
SIZE = 1_000
WITHIN_S = 1.0
"""How long after the kill the call may end."""

_VICTIM = Path(__file__).with_name("victim.py")
_CALLS: Sequence[Calls] = ([("victim.hang", {})], [("victim.ping", {})])


async def run(count: int) -> Survived:
    """Kill so many times; the record of each session goes to a place that is then removed."""
    # Its processes carry this run's own mark, so that those of another are not taken for them.
    mark = secrets.token_hex(8)
    spec = ProviderSpec("victim", (sys.executable, "-I", str(_VICTIM), mark))
    with tempfile.TemporaryDirectory() as name, state_below(Path(name, "state")):
        async with opened(Setup(Path(name), providers=(spec,))) as kernel:
            kills = [await _kill(kernel) for _ in range(count)]
    waits = sorted(kill.waited_s for kill in kills)
    counts = {
        "killed": len(kills),
        "ended process_crashed": sum(kill.crashed for kill in kills),
        "next call worked": sum(kill.recovered for kill in kills),
        "median ms to the call's end": waits[len(waits) // 2] * 1e3,
        "longest": waits[-1] * 1e3,
    }
    left = tuple(f"process {pid}" for pid in with_mark(mark))
    faults = tuple(f"kill {n}: {kill.fault}" for n, kill in enumerate(kills, 1) if kill.fault)
    return Survived(ID, f"killed a provider in mid-call {count} times", counts, faults, left)


@dataclass
class _Kill:
    """A frontend that kills the provider at the first event of a call, and watches what follows."""

    attended = False
    killed_at: float = 0.0
    waited_s: float = float("inf")
    pids: list[int] = field(default_factory=list)
    crashed: bool = False
    recovered: bool = False

    decide = Discard.decide
    answer = Discard.answer

    async def hear(self, news: News) -> None:
        """Kill, or note how a call ended."""
        match news:
            case CallEvent(event=Progress(message=pid)):
                self.pids.append(int(pid))
                self.killed_at = time.perf_counter()
                os.kill(int(pid), signal.SIGKILL)
            case CallEnded(outcome=Failure(category=ErrorCategory.PROCESS_CRASHED)):
                self.crashed = True
                self.waited_s = time.perf_counter() - self.killed_at
            case CallEnded(outcome=Success(payload={"pid": pid})):
                self.recovered = pid not in self.pids
            case _:
                pass

    @property
    def fault(self) -> str:
        """What did not hold."""
        if not self.crashed:
            return "the call did not end process_crashed"
        if self.waited_s > WITHIN_S:
            return f"the call ended after {self.waited_s:.2f} s"
        return "" if self.recovered else "the next call did not work"


async def _kill(kernel: Kernel) -> _Kill:
    watcher = _Kill()
    async with kernel.session(Metronome(_CALLS), watcher) as session:
        await session.run("survive")
    return watcher
