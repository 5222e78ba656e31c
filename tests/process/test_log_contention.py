"""Another process at the same log: one that holds its lock, one that reads, a second kernel."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store_logs import SESSION, file_rows, stored

from pluggableharness.kernel.store import file as log_file
from pluggableharness.kernel.store.errors import LogBusy, LogInUse
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events, verify

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""

KERNEL = """
import asyncio, sys
from pathlib import Path
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store.log import EventLog

async def main():
    log = EventLog.open(Path(sys.argv[1]))
    log.append(EventKind.MESSAGE, b"of the other kernel", schema_version="test")
    await log.sync()
    print("open", flush=True)
    sys.stdin.readline()
    await log.close()

asyncio.run(main())
"""

Start = Callable[[str, Path], "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program on a log, and return when it has said that it holds it."""
    started: list[subprocess.Popen[str]] = []

    def run(program: str, path: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, str(path)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    yield run
    for process in started:
        process.communicate(timeout=60)


def let_go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.req("K27", "R10")
async def test_an_event_waits_for_another_process_and_keeps_its_place(
    tmp_path: Path, start: Start
) -> None:
    """Case session-log-01: the loop goes on meanwhile, which is what releases the lock."""
    log = EventLog.create(tmp_path, SESSION)
    holder = start(HOLDER, log.path)
    file_rows(log, 1)
    waiting = asyncio.create_task(log.sync())
    for _ in range(1000):
        await asyncio.sleep(0)
    assert not waiting.done()
    file_rows(log, 1, 1)
    let_go(holder)
    await asyncio.wait_for(waiting, 50)
    await log.close()
    assert stored(log.path) == [(1, b"0"), (2, b"1")]


@pytest.mark.req("K27", "R10")
async def test_a_lock_that_is_not_released_is_an_error_in_bounded_time(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case session-log-02: each of three calls' intents is refused; none may then be sent."""
    monkeypatch.setattr(log_file, "PATIENCE_S", 0.3)
    log = EventLog.create(tmp_path, SESSION)
    holder = start(HOLDER, log.path)
    for number in range(3):
        file_rows(log, 1, number)
        with pytest.raises(LogBusy, match="another process holds its lock"):
            await asyncio.wait_for(log.sync(), 10)
    let_go(holder)
    holder.wait(30)
    await log.sync()
    await log.close()
    assert [sequence for sequence, _ in stored(log.path)] == [1, 2, 3]


@pytest.mark.req("K27")
async def test_a_second_kernel_is_told_who_has_the_session(tmp_path: Path, start: Start) -> None:
    log = EventLog.create(tmp_path, SESSION)
    await log.close()
    other = start(KERNEL, log.path)
    with pytest.raises(LogInUse, match=f"process {other.pid} has this session open"):
        EventLog.open(log.path)
    let_go(other)
    other.wait(30)
    again = EventLog.open(log.path)
    assert again.sequence == 1
    await again.close()


@pytest.mark.req("K27")
async def test_a_session_is_readable_while_its_kernel_runs(tmp_path: Path, start: Start) -> None:
    log = EventLog.create(tmp_path, SESSION)
    await log.close()
    other = start(KERNEL, log.path)
    assert [event.payload for event in read_events(log.path)] == [b"of the other kernel"]
    assert verify(log.path).ok
    other.kill()
    other.wait(30)
    assert [event.payload for event in read_events(log.path)] == [b"of the other kernel"]
    assert verify(log.path).ok


DISK = """
import asyncio, sys
from pathlib import Path
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store.errors import LogWriteError
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import verify

async def main():
    log = EventLog.create(Path(sys.argv[1]) / "sessions", "01JZ0000000000000000000000")
    acknowledged = 0
    try:
        while True:
            log.append(EventKind.MESSAGE, bytes(10_000), schema_version="test")
            await log.sync()
            acknowledged += 1
    except LogWriteError as error:
        print(error, error.lasting)
    report = verify(log.path)
    print(report.ok, acknowledged, report.rows)
    (Path(sys.argv[1]) / "ballast").unlink()
    await log.sync()
    print(verify(log.path, log.head).rows)

asyncio.run(main())
"""

ON_A_SMALL_DISK = """
set -e
mount -t tmpfs -o size=2m tmpfs "$1"
head -c 500000 /dev/zero > "$1/ballast"
exec "$2" -c "$3" "$1"
"""


@pytest.mark.req("R10")
def test_a_disk_that_is_really_full_loses_nothing(tmp_path: Path) -> None:
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh"]
    arguments = [str(tmp_path), sys.executable, DISK]
    run = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    if "unshare" in run.stderr or "mount" in run.stderr:
        pytest.skip(f"no mount namespaces here: {run.stderr}")
    assert run.returncode == 0, run.stderr
    said, checked, after = run.stdout.splitlines()
    assert "disk is full" in said
    assert said.endswith("False")
    ok, acknowledged, rows = checked.split()
    assert (ok, acknowledged) == ("True", rows)
    assert int(after) == int(acknowledged) + 1
