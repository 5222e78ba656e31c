"""Kills a log's writer again and again and looks at what is left (R2).

Run as a program, with nothing else in the process, so that it may fork: a writer is ready at
once, and a thousand kills take no longer than they must. `python log_killing.py DIRECTORY
ROUNDS SEED` prints what it did as JSON and exits 1 with the reason when anything was lost.
"""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import NoReturn

from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store import file as log_file
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events, verify

SESSION = "01JZ0000000000000000000000"
POINTS = ("BEGIN", "INSERT", "COMMIT", "acknowledge", "anywhere")
"""Where a writer dies: before these statements, before it says that rows are durable, or
wherever it is when the signal comes."""


@dataclass
class Done:
    """What was done and found, over all rounds."""

    rounds: int = 0
    acknowledged: int = 0
    rows: int = 0
    recovered: int = 0
    torn: int = 0


def kill_often(directory: Path, rounds: int, seed: int) -> Done:
    """Let writers go on with one log, kill each, and check the log after each.

    Raises AssertionError with the round and its point when the log lost or doubled anything.
    """
    chance, done = random.Random(seed), Done()
    path = directory / f"{SESSION}.sqlite"
    for number in range(rounds):
        point = POINTS[number % len(POINTS)]
        acknowledged = _one_round(directory, point, chance)
        done.acknowledged = max(done.acknowledged, acknowledged)
        done.rows += _check_new_rows(path, done, f"round {number}, killed at {point}")
        done.rounds += 1
    _check_all(path, done)
    return done


def _one_round(directory: Path, point: str, chance: random.Random) -> int:
    """Start a writer, kill it at the point, and return the last sequence it acknowledged."""
    acks, write_end = os.pipe()
    seed, enough = chance.getrandbits(32), chance.randrange(1, 40)
    child = os.fork()
    if child == 0:
        os.close(acks)
        _write_until_killed(directory, write_end, point, seed, enough)
    os.close(write_end)
    said = b""
    while piece := os.read(acks, 8 * enough):
        said += piece
        if point == "anywhere" and len(said) >= 8 * enough:
            _spin(chance.uniform(0, 0.002))
            os.kill(child, signal.SIGKILL)
    os.close(acks)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the writer ended by itself with {status}"
    sequences = [int.from_bytes(said[at : at + 8], "big") for at in range(0, len(said) - 7, 8)]
    return max(sequences, default=0)


def _write_until_killed(directory: Path, acks: int, point: str, seed: int, enough: int) -> NoReturn:
    try:
        log_file._CHECKPOINT_BYTES = 100_000
        asyncio.run(_write(directory, acks, point, random.Random(seed), enough))
    finally:
        os._exit(3)


async def _write(
    directory: Path, acks: int, point: str, chance: random.Random, enough: int
) -> None:
    path = directory / f"{SESSION}.sqlite"
    log = EventLog.open(path) if path.exists() else EventLog.create(directory, SESSION)
    if point not in ("anywhere", "acknowledge"):
        log._file.connection.set_trace_callback(_dying_before(point, enough))

    async def produce() -> None:
        while True:
            size = chance.choice((10, 10, 10, 500, 5000, 300_000 if chance.random() < 0.05 else 1))
            filed = log.append(EventKind.MESSAGE, bytes(size), schema_version="test")
            await log.sync()
            if point == "acknowledge" and chance.randrange(enough) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            os.write(acks, filed.sequence.to_bytes(8, "big"))

    await asyncio.gather(*(produce() for _ in range(4)))


def _dying_before(point: str, count: int) -> Callable[[str], None]:
    """A trace callback that kills the process before the statement runs for the count-th time."""
    left = count

    def trace(statement: str) -> None:
        nonlocal left
        left -= statement.startswith(point)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return trace


def _check_new_rows(path: Path, done: Done, where: str) -> int:
    """Everything acknowledged is there, in order; return how many rows came in this round."""
    new = [event.sequence for event in read_events(path, after=done.rows)]
    assert new == list(range(done.rows + 1, done.rows + 1 + len(new))), f"{where}: gaps"
    there = done.rows + len(new)
    assert there >= done.acknowledged, f"{where}: {done.acknowledged} acknowledged, {there} there"
    return len(new)


def _check_all(path: Path, done: Done) -> None:
    """The chain holds, no id appears twice, and the record tells of its recoveries."""
    report = verify(path)
    assert report.ok, report.fault
    assert report.rows == done.rows, f"{report.rows} rows, and {done.rows} seen before"
    events = list(read_events(path))
    assert len({event.id for event in events}) == done.rows, "an id appears twice"
    notes = [json.loads(event.payload) for event in events if event.kind == EventKind.SESSION]
    done.recovered = len(notes)
    done.torn = sum(note["frames_dropped"] > 0 for note in notes)


def _spin(seconds: float) -> None:
    """Let the writer get somewhere; sleeping would be too coarse."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


if __name__ == "__main__":
    print(json.dumps(asdict(kill_often(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))))
