"""R9: fifty sessions at once in one kernel, each with sub-agents, for as many seconds as asked."""

import asyncio
import itertools
import math
import os
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from bench.driving import Calls, Discard, Proposal, Steady
from bench.survive.busy import setup
from bench.survive.kernels import state_below, well_formed
from bench.survive.processes import with_mark
from bench.survive.survived import Survived
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.reading import read_meta, verify

ID = "R9"
SIZE = 600
AT_ONCE = 50
_ROUNDS = 5
"""Turns of a session before the next one takes its place."""

_WITH_COMMANDS = 10
"""One in so many sessions runs commands, in a provider process of its own."""

_MISSING = "missing.txt"
"""Read by every session once a turn: the one error that is asked for."""

_numbers = itertools.count(1)


@dataclass
class _Tally:
    """What was counted over all sessions."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def _crowded(mark: str, *, root: bool, rounds: int = _ROUNDS, until: float = math.inf) -> Steady:
    """Writes and reads files of its own; a root also has two sub-agents do so at once."""
    number = next(_numbers)

    def calls(turn: int) -> Calls:
        over = turn >= rounds or (turn and time.monotonic() > until)
        return () if over else list(_calls(mark, number, turn, root=root))

    return Steady(calls, cost_usd=0.001)


def _calls(mark: str, number: int, turn: int, *, root: bool) -> Iterator[Proposal]:
    path = f"{number}-{turn}.txt"
    yield "filesystem.write_file", {"path": path, "content": f"old {turn}\n" * 50}
    yield "filesystem.read_file", {"path": path}
    yield "filesystem.read_file", {"path": _MISSING, "start_line": turn + 1}
    if root:
        for n in range(2):
            yield "agent.spawn_subagent", {"profile": "helper", "prompt": f"{turn}.{n}"}
    if number % _WITH_COMMANDS == 0:
        yield "exec.bash", {"command": f": {mark}; wc -l < {path}"}


async def run(seconds: int) -> Survived:
    """Keep fifty sessions going for so long; those that run then end after their turn."""
    tally, mark = _Tally(), secrets.token_hex(8)
    with tempfile.TemporaryDirectory() as name, state_below(Path(name, "state")):
        project = Path(name, "project")
        project.mkdir()
        until = time.monotonic() + seconds
        async with opened(_setup(project, mark)) as kernel, asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(_one_after_another(kernel, mark, until, tally))
        _check_records(Path(os.environ["XDG_STATE_HOME"]), tally)
    left = tuple(f"process {pid}" for pid in with_mark(mark))
    done = f"kept {AT_ONCE} sessions with sub-agents going for {seconds} s"
    return Survived(ID, done, tally.counts, tuple(tally.faults), left)


def _setup(project: Path, mark: str) -> Setup:
    plain = setup(project, mark)
    return replace(
        plain,
        providers=(*plain.providers, first_party("agent")),
        profiles=(Profile("helper", ("filesystem.*", "exec.*")),),
        models=partial(_helper, mark),
    )


def _helper(mark: str, profile: Profile) -> Steady:
    return _crowded(mark, root=False, rounds=2)


async def _one_after_another(kernel: Kernel, mark: str, until: float, tally: _Tally) -> None:
    while time.monotonic() < until:
        async with kernel.session(_crowded(mark, root=True, until=until), Discard()) as session:
            end = await session.run("Do your part")
        tally.counts["sessions"] += 1
        if end.status is not SessionStatus.COMPLETED:
            tally.faults.append(f"session {session.id} ended as {end.status.value}: {end.reason}")
        if not well_formed(session.history):
            tally.faults.append(f"session {session.id}: a call has not exactly one result")
        for outcome in _outcomes(session.history):
            _judge(outcome, session.id, tally)


def _outcomes(history: Sequence[Message]) -> list[Outcome]:
    blocks = (block for message in history for block in message.blocks)
    return [block.outcome for block in blocks if isinstance(block, ToolResult)]


def _judge(outcome: Outcome, session_id: str, tally: _Tally) -> None:
    tally.counts["calls"] += 1
    if not isinstance(outcome, Failure):
        return
    if outcome.category is ErrorCategory.NOT_FOUND and _MISSING in outcome.message:
        tally.counts["errors asked for"] += 1
    else:
        tally.faults.append(f"session {session_id}: {outcome.category.value}: {outcome.message}")


def _check_records(state: Path, tally: _Tally) -> None:
    """Every log verifies and says that its session is complete; those of sub-agents too."""
    for log in state.glob("pluggableharness/sessions/*.sqlite"):
        report, meta = verify(log), read_meta(log)
        tally.counts["rows"] += report.rows
        tally.counts["sub-agents"] += "parent" in meta
        if not report.ok:
            tally.faults.append(f"{log.name}: {report.fault}")
        if meta["status"] != SessionStatus.COMPLETED.value:
            tally.faults.append(f"{log.name}: its session is {meta['status']}")
