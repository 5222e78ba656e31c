"""S13: the record's rows a second, its list of sessions, and its replay."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.reading import Reading, median
from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.store.location import sessions_directory
from pluggableharness.kernel.store.log import KERNEL, EventLog
from pluggableharness.kernel.store.session_record import SessionLog

_PRODUCERS = 16
_ROWS = 1500
_SESSIONS = 10_000
_EVENTS = 100_000
_CALLS = 8


async def rows() -> list[Reading]:
    """All three, each in a place of its own."""
    readings = []
    for measure in (_acknowledged, _listed, _replayed):
        with tempfile.TemporaryDirectory() as name:
            readings.append(await measure(Path(name)))
    return readings


async def _acknowledged(directory: Path) -> Reading:
    """Producers that each wait for the disk before they file their next row."""
    rates = []
    for _ in range(5):
        log = EventLog.create(directory / "sessions", ulid())
        began = time.perf_counter()
        await asyncio.gather(*(_produce(log) for _ in range(_PRODUCERS)))
        rates.append(_PRODUCERS * _ROWS / (time.perf_counter() - began))
        await log.close()
    rate = median(rates)
    return Reading(
        "S13", "acknowledged log rows, 16 producers", rate, "/s", rate, ">= 20,000", rate >= 20_000
    )


async def _produce(log: EventLog) -> None:
    payload = bytes(150)
    for _ in range(_ROWS):
        log.append(EventKind.TOOL_RESULT, payload, schema_version="event.v1")
        await log.sync()


async def _listed(directory: Path) -> Reading:
    """`harness sessions list` as a person starts it, the index being there."""
    sessions = sessions_directory({"XDG_STATE_HOME": str(directory)})
    log = EventLog.create(sessions, ulid())
    await _session(log, 1)
    for _ in range(_SESSIONS - 1):
        os.link(log.path, sessions / f"{ulid()}.sqlite")
    rebuilt = _list(directory)
    seconds = median([_list(directory) for _ in range(5)])
    return Reading(
        "S13",
        "listing 10,000 sessions, the command",
        seconds,
        "s",
        seconds,
        "<= 0.3",
        seconds <= 0.3,
        notes=(f"{rebuilt:.2f} s when the index is missing",),
    )


def _list(state: Path) -> float:
    return _command(state, "list", "--all", expected=_SESSIONS)


async def _replayed(directory: Path) -> Reading:
    """`harness sessions replay --json`, without the start of Python and of the command."""
    sessions = sessions_directory({"XDG_STATE_HOME": str(directory)})
    log = EventLog.create(sessions, ulid())
    count = await _session(log, _EVENTS // (1 + 3 * _CALLS))
    small = EventLog.create(sessions, ulid())
    await _session(small, 1)
    whole = median([_replay(directory, log) for _ in range(5)])
    start = median([_replay(directory, small) for _ in range(5)])
    seconds = (whole - start) * _EVENTS / count
    return Reading("S13", "replaying 100,000 events", seconds, "s", seconds, "<= 2", seconds <= 2)


def _replay(state: Path, log: EventLog) -> float:
    return _command(state, "replay", log.session_id, "--json", expected=1)


def _command(state: Path, *words: str, expected: int) -> float:
    """Seconds of a command, which has to print at least so many lines."""
    command = [sys.executable, "-m", "pluggableharness.cli", "sessions", *words]
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    began = time.perf_counter()
    ended = subprocess.run(command, env=environment, capture_output=True, check=True)
    seconds = time.perf_counter() - began
    assert ended.stdout.count(b"\n") >= expected
    return seconds


async def _session(log: EventLog, turns: int) -> int:
    """File a whole session of so many turns with eight reads each, and return its rows."""
    record = SessionLog(log, lambda name: KERNEL)
    record.started("/work", "bench")
    for _ in range(turns):
        context = CallContext(log.session_id, ulid(), "/work")
        calls = [
            Call(ulid(), _READ, {"path": f"file-{n}"}, context, f"use-{n}", 120.0)
            for n in range(_CALLS)
        ]
        proposed = tuple(ProposedCall(c.tool_use_id, "toy.read", c.arguments) for c in calls)
        message = Message(Role.ASSISTANT, proposed, context.turn_id)
        record.message(message, NOTHING_USED, 0.0)
        for call in calls:
            record.decision(call, Verdict(Decision.ALLOW, "default for data sources"))
            record.call(call)
            record.outcome(call, Success({"content": "some text", "total_lines": 1}))
        await record.durable()
    record.ended(SessionEnd(log.session_id, SessionStatus.COMPLETED))
    await log.close()
    return log.sequence


_READ = Operation(
    "toy",
    "read",
    Kind.DATA_SOURCE,
    Risk.READ_ONLY,
    "Read a file.",
    Schema(SchemaType.OBJECT, properties={"path": Schema(SchemaType.STRING)}, required=("path",)),
    Schema(SchemaType.OBJECT),
)
