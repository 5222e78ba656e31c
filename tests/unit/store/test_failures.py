"""A log that cannot be written: what is said, what is kept, and that nothing is skipped."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_logs import direct, file_rows, stored

from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store import file as file_module
from pluggableharness.kernel.store import log as log_module
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.errors import LogBusy, LogFailed, LogWriteError
from pluggableharness.kernel.store.file import LogFile
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_meta, verify


@pytest.fixture
def other_writer(log: EventLog) -> Iterator[sqlite3.Connection]:
    """A connection that holds the log's write lock."""
    connection = sqlite3.connect(log.path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


@pytest.fixture
def commit_threads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each commit, whether it ran in a thread of its own."""
    threads: list[bool] = []
    commit = LogFile.commit

    def noted(self: LogFile, batch: file_module.Batch) -> None:
        threads.append(threading.current_thread() is not threading.main_thread())
        commit(self, batch)

    monkeypatch.setattr(LogFile, "commit", noted)
    return threads


@pytest.mark.req("K27", "R10")
async def test_a_held_lock_blocks_neither_the_loop_nor_the_order(
    log: EventLog, other_writer: sqlite3.Connection
) -> None:
    """Case session-log-01, within one process."""
    file_rows(log, 1)
    first = asyncio.create_task(log.sync())
    for _ in range(100):
        await asyncio.sleep(0)
    file_rows(log, 1, 1)
    second = asyncio.create_task(log.sync())
    await asyncio.sleep(0)
    assert not first.done()
    other_writer.execute("ROLLBACK")
    await asyncio.wait_for(asyncio.gather(first, second), 50)
    assert stored(log.path) == [(1, b"0"), (2, b"1")]


@pytest.mark.req("K27", "R10")
async def test_a_lock_that_is_never_released_is_an_error_for_all_who_wait(
    log: EventLog,
    other_writer: sqlite3.Connection,
    commit_threads: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Case session-log-02: bounded, clear, and the rows are kept for the next try."""
    monkeypatch.setattr(file_module, "PATIENCE_S", 0.2)
    file_rows(log, 2)
    waiting = [asyncio.create_task(log.sync()) for _ in range(2)]
    for _ in range(3):
        await asyncio.sleep(0)
    file_rows(log, 1, 2)
    waiting.append(asyncio.create_task(log.sync()))
    ends = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)
    assert [type(end) for end in ends] == [LogBusy] * 3
    assert commit_threads == [False, True], "nobody is left to wait another time"
    assert str(log.path) in str(ends[0])
    assert "busy" in str(ends[0])
    other_writer.execute("ROLLBACK")
    file_rows(log, 1, 3)
    await log.sync()
    assert stored(log.path) == [(number + 1, str(number).encode()) for number in range(4)]
    assert verify(log.path, log.head).ok


@pytest.mark.req("R10")
async def test_a_full_disk_is_said_and_what_did_not_fit_is_written_when_there_is_room(
    log: EventLog,
) -> None:
    file_rows(log, 3)
    await log.sync()
    connection = log._file.connection
    connection.execute("PRAGMA max_page_count = 1")
    log.append(EventKind.MESSAGE, bytes(50_000), schema_version="test")
    for _ in range(2):
        with pytest.raises(LogWriteError, match="disk is full") as raised:
            await log.sync()
    assert raised.value.lasting is False
    assert len(stored(log.path)) == 3
    file_rows(log, 1, 4)
    connection.execute("PRAGMA max_page_count = 1000000")
    await log.sync()
    assert verify(log.path, log.head).rows == 5


@pytest.mark.req("K27", "R10")
async def test_what_was_held_up_does_not_overtake_what_was_filed_later(
    log: EventLog, other_writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "PATIENCE_S", 0.1)
    log.put_meta("status", "running")
    waiting = asyncio.create_task(log.sync())
    for _ in range(3):
        await asyncio.sleep(0)
    log.put_meta("status", "completed")
    with pytest.raises(LogBusy):
        await waiting
    other_writer.execute("ROLLBACK")
    await log.sync()
    assert read_meta(log.path)["status"] == "completed"


@pytest.mark.req("R10")
async def test_a_read_only_log_is_said(log: EventLog) -> None:
    log._file.connection.execute("PRAGMA query_only = ON")
    file_rows(log, 1)
    with pytest.raises(LogWriteError, match="read-only"):
        await log.sync()
    log._file.connection.execute("PRAGMA query_only = OFF")
    await log.sync()
    assert len(stored(log.path)) == 1


@pytest.mark.req("R10")
@pytest.mark.parametrize("suffix", ["", "-wal"])
async def test_a_removed_log_is_never_written_to_in_silence(log: EventLog, suffix: str) -> None:
    """SQLite itself goes on writing to the removed file and reports success."""
    file_rows(log, 1)
    await log.sync()
    os.unlink(f"{log.path}{suffix}")
    file_rows(log, 1)
    with pytest.raises(LogWriteError, match="removed or replaced"):
        await log.sync()


@pytest.mark.req("R10")
async def test_a_replaced_log_is_never_written_to_in_silence(log: EventLog) -> None:
    content = log.path.read_bytes()
    log.path.unlink()
    log.path.write_bytes(content)
    file_rows(log, 1)
    with pytest.raises(LogWriteError, match="removed or replaced"):
        await log.sync()


@pytest.mark.req("R10")
async def test_after_a_lasting_failure_nothing_is_acknowledged(log: EventLog) -> None:
    moved = log.path.with_name("elsewhere")
    log.path.rename(moved)
    file_rows(log, 1)
    with pytest.raises(LogWriteError):
        await log.sync()
    moved.rename(log.path)
    with pytest.raises(LogWriteError, match="removed or replaced") as raised:
        await log.sync()
    assert raised.value.lasting
    with pytest.raises(LogWriteError):
        await log.close()


@pytest.mark.req("K27")
async def test_a_second_writer_of_rows_is_found_out(log: EventLog) -> None:
    file_rows(log, 1)
    await log.sync()
    intruder = sqlite3.connect(log.path, isolation_level=None)
    intruder.execute("INSERT INTO events VALUES (2, 'x', 0, 'message', 1, 'test', x'', x'')")
    intruder.close()
    file_rows(log, 1)
    with pytest.raises(LogWriteError, match="another program has written"):
        await log.sync()
    with direct(log.path) as file:
        file.execute("BEGIN IMMEDIATE")


@pytest.mark.req("K27")
async def test_an_unforeseen_error_reaches_those_who_wait(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: LogFile, batch: file_module.Batch) -> None:
        raise OverflowError("int too large")

    monkeypatch.setattr(LogFile, "_write", broken)
    file_rows(log, 1)
    with pytest.raises(LogWriteError, match="int too large"):
        await asyncio.wait_for(log.sync(), 5)


@pytest.mark.req("K27")
async def test_only_what_is_slow_goes_to_a_thread(
    log: EventLog, commit_threads: list[bool]
) -> None:
    file_rows(log, 1)
    await log.sync()
    log.append(EventKind.MESSAGE, bytes(1 << 20), schema_version="test")
    await log.sync()
    log._file.last_commit_s = 1.0
    file_rows(log, 1)
    await log.sync()
    log._file.last_commit_s = 0.0
    file_rows(log, 1)
    await log.sync()
    assert commit_threads == [False, True, True, False]


@pytest.mark.req("K27")
async def test_the_write_ahead_log_stays_small_without_holding_up_the_loop(
    log: EventLog, commit_threads: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "_CHECKPOINT_BYTES", 100_000)
    monkeypatch.setattr(file_module, "_RESERVED_BYTES", 0)
    monkeypatch.setattr(log_module, "_SLOW_S", 60.0)
    for number in range(200):
        file_rows(log, 1, number)
        await log.sync()
    wal = log.path.with_name(log.path.name + "-wal")
    assert wal.stat().st_size < 300_000
    assert 5 < sum(commit_threads) < 50
    assert verify(log.path).rows == 200


@pytest.mark.req("K27")
async def test_room_is_reserved_once_a_session_is_no_short_one(log: EventLog) -> None:
    wal = log.path.with_name(log.path.name + "-wal")
    file_rows(log, 1)
    await log.sync()
    assert wal.stat().st_size < 100_000
    for number in range(10):
        file_rows(log, 1, number)
        await log.sync()
    assert wal.stat().st_size == 4 * 2**20 + 2**18
    assert verify(log.path, log.head).rows == 11


@pytest.mark.req("K27")
async def test_closing_lets_go_even_when_the_last_rows_cannot_be_written(
    log: EventLog, other_writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "PATIENCE_S", 0.1)
    file_rows(log, 1)
    with pytest.raises(LogBusy):
        await log.close()
    other_writer.execute("ROLLBACK")
    again = EventLog.open(log.path)
    assert again.sequence == 0
    await again.close()


@pytest.mark.req("K27")
async def test_closing_waits_for_a_commit_in_its_thread(
    log: EventLog, other_writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even a close that is cancelled: two threads in one connection end badly."""
    committing: list[bool] = []
    close = LogFile.close

    def noted(self: LogFile) -> None:
        committing.append(log._thread is not None and log._thread.is_alive())
        close(self)

    monkeypatch.setattr(LogFile, "close", noted)
    file_rows(log, 1)
    given_up = asyncio.create_task(log.close())
    for _ in range(20):
        await asyncio.sleep(0)
    given_up.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    other_writer.execute("ROLLBACK")
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert committing == [False]
    again = EventLog.open(log.path)
    assert again.sequence == 1
    await again.close()


@pytest.mark.req("K27")
async def test_a_session_that_cannot_be_started_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "CREATE", "BEGIN; CREATE nonsense;")
    with pytest.raises(LogFailed):
        EventLog.create(tmp_path, "01JZ0000000000000000000001")
    assert list(tmp_path.iterdir()) == []
