"""R10: what the machine does to a session: no room, no lock, no directory, no clock, no HOME."""

import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.driving import ECHO, Discard, Metronome
from bench.survive.kernels import state_below
from bench.survive.survived import Survived
from pluggableharness.kernel.domain.errors import HarnessError, RecordFailed
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store import file as log_file
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.index import summaries
from pluggableharness.kernel.store.location import sessions_directory
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events, verify

ID = "R10"
SIZE = 120
_TURNS = 12


async def run(count: int) -> Survived:
    """So many mishaps, of each kind in turn."""
    chance, counts, faults = random.Random(count), Counter[str](), []
    with tempfile.TemporaryDirectory() as name, state_below(Path(name, "state")):
        directory = Path(name, "work")
        directory.mkdir()
        async with opened(Setup(directory, providers=(ECHO,), allow_all=True)) as kernel:
            for number in range(count):
                kind = _KINDS[number % len(_KINDS)]
                counts[kind] += 1
                try:
                    fault = await _mishap(kind, kernel, directory, chance)
                except Exception as error:  # Anything but a clear error is what must not be.
                    fault = f"{type(error).__name__}: {error}"
                if fault:
                    faults.append(f"{number + 1}, {kind}: {fault}")
    return Survived(ID, f"brought {count} mishaps about", counts, tuple(faults))


_KINDS = ("disk full", "log locked", "log damaged", "no directory", "clock set back", "no HOME")


async def _mishap(kind: str, kernel: Kernel, directory: Path, chance: random.Random) -> str:
    match kind:
        case "disk full":
            return await _broken_off(kernel, lambda log: _full(log, chance.randint(14, 22)), "full")
        case "log locked":
            with _short_patience():
                return await _broken_off(kernel, _locked, "busy")
        case "log damaged":
            return await _damaged(kernel, chance)
        case "no directory":
            return _without_directory(directory)
        case "clock set back":
            return await _clock_set_back(chance)
        case _:
            return _without_home(directory)


async def _broken_off(kernel: Kernel, obstruct: Callable[[EventLog], object], words: str) -> str:
    """A session whose log takes no more ends with a clear error, has sent nothing that is not
    in the log, and goes on when the obstacle is gone."""
    obstacle: list[object] = []

    def before(turn: int) -> None:
        if not obstacle:
            obstacle.append(obstruct(_only_log(kernel)))

    model = _model(before)
    try:
        async with kernel.session(model, Discard()) as session:
            path = _only_log(kernel).path
            await session.run("go")
        return "it did not notice"
    except RecordFailed as error:
        if words not in str(error):
            return f"an unclear error: {error}"
    for one in obstacle:
        if isinstance(one, sqlite3.Connection):
            one.close()
    return verify(path).fault or await _goes_on(kernel, path)


def _model(before: Callable[[int], None]) -> Metronome:
    calls = [[("echo.act", {"text": f"{turn} " + "x" * 2000})] for turn in range(_TURNS)]
    return Metronome(calls, before=before)


def _only_log(kernel: Kernel) -> EventLog:
    (log,) = kernel._logs.values()
    return log


def _full(log: EventLog, pages: int) -> None:
    log._file.connection.execute(f"PRAGMA max_page_count = {pages}")


def _locked(log: EventLog) -> sqlite3.Connection:
    holder = sqlite3.connect(log.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    return holder


@contextmanager
def _short_patience() -> Iterator[None]:
    before, log_file.PATIENCE_S = log_file.PATIENCE_S, 0.1
    try:
        yield
    finally:
        log_file.PATIENCE_S = before


async def _goes_on(kernel: Kernel, path: Path) -> str:
    model = _model(before=lambda turn: None)
    async with kernel.resumed(path, lambda before: model, Discard()) as (session, before):
        end = await session.resume(before)
    if end.status is not SessionStatus.COMPLETED:
        return f"resumed, it ended as {end.status.value}: {end.reason}"
    return verify(path).fault


async def _damaged(kernel: Kernel, chance: random.Random) -> str:
    """A damaged log never passes for a whole one, is still listed, and breaks nothing else."""
    async with kernel.session(_model(before=lambda turn: None), Discard()) as session:
        path = _only_log(kernel).path
        await session.run("go")
    head, written = session.record.head, list(read_events(path))
    _scribble(path, chance)
    fault = ""
    try:
        if verify(path, head).ok and list(read_events(path)) != written:
            fault = "rows were changed, and it verified"
    except LogUnreadable:
        pass
    listed = {one.session_id for one in summaries(sessions_directory(os.environ))}
    if path.stem not in listed:
        fault = "it is not listed"
    try:
        await _goes_on(kernel, path)
    except HarnessError:
        pass  # A clear error is what is wanted of a log that cannot be trusted.
    path.unlink()
    return fault


def _scribble(path: Path, chance: random.Random) -> None:
    """Overwrite a byte, a line or a page with something else."""
    content = bytearray(path.read_bytes())
    at = chance.randrange(len(content))
    for offset in range(at, min(at + chance.choice((1, 64, 4096)), len(content))):
        content[offset] ^= chance.randrange(1, 256)
    path.write_bytes(content)


def _without_directory(directory: Path) -> str:
    """A working directory that is gone, or a file, is a usage error and starts nothing."""
    gone = directory / "gone"
    gone.write_text("no directory")
    script = directory / "script.yaml"
    script.write_text("messages: [{say: hello}]")
    for where in (gone, directory / "never"):
        ended = _harness(
            "run", "--script", str(script), "--cwd", str(where), environment=os.environ
        )
        if ended.returncode != 2 or str(where) not in ended.stderr:
            return f"exit {ended.returncode}: {ended.stderr}"
    gone.unlink()
    return ""


async def _clock_set_back(chance: random.Random) -> str:
    """Rows keep their order and their chain, whatever time they are stamped with."""
    log = EventLog.create(
        sessions_directory(os.environ), ulid(), clock=lambda: chance.randrange(2**60)
    )
    for number in range(200):
        log.append(EventKind.MESSAGE, str(number).encode(), schema_version="test")
        if chance.random() < 0.2:
            await log.sync()
    await log.close()
    found = [int(event.payload) for event in read_events(log.path)]
    fault = "" if found == list(range(200)) else "rows are out of order"
    return fault or verify(log.path, log.head).fault


def _without_home(directory: Path) -> str:
    """Without HOME there is no place for a record: nothing is started, and the error says so."""
    script = directory / "script.yaml"
    script.write_text("messages: [{calls: [{tool: exec.bash, arguments: {command: 'touch ran'}}]}]")
    before = sorted(directory.iterdir())
    ended = _harness(
        "run", "--script", str(script), "--cwd", str(directory), "--allow-all", "--json",
        environment={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    if ended.returncode not in (1, 2) or "HOME" not in ended.stderr:
        return f"exit {ended.returncode}: {ended.stderr}"
    return "" if sorted(directory.iterdir()) == before else "something ran"


def _harness(
    *words: str, environment: "os._Environ[str] | dict[str, str]"
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pluggableharness.cli", *words],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
