"""Filing, syncing, closing and going on with a session's log."""

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest
from store_logs import SESSION, TOY, file_rows, stored

from pluggableharness.kernel.domain.event import EventKind, Producer
from pluggableharness.kernel.domain.message import Usage
from pluggableharness.kernel.store.errors import (
    LogInUse,
    LogUnreadable,
    LogWriteError,
    NoStateDirectory,
)
from pluggableharness.kernel.store.file import LogFile
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import (
    head,
    read_events,
    read_meta,
    read_spent,
    verify,
)


@pytest.mark.req("K27")
async def test_what_sync_acknowledged_is_there_for_a_reader_while_the_log_is_open(
    log: EventLog,
) -> None:
    filed = file_rows(log, 3)
    await log.sync()
    assert list(read_events(log.path)) == filed
    assert [event.sequence for event in filed] == [1, 2, 3]
    assert list(read_events(log.path, after=2)) == filed[2:]


@pytest.mark.req("K27")
async def test_a_reader_gets_to_know_producers_that_came_while_it_read(log: EventLog) -> None:
    file_rows(log, 300)
    await log.sync()
    reader = read_events(log.path)
    next(reader)
    late = log.append(EventKind.SESSION, b"{}", schema_version="json.1")
    await log.sync()
    assert list(reader)[-1] == late


@pytest.mark.req("K27")
async def test_rows_are_only_in_memory_before_a_sync(log: EventLog) -> None:
    file_rows(log, 2)
    assert stored(log.path) == []


@pytest.mark.req("K27")
async def test_the_file_is_in_wal_mode_and_every_commit_is_synced(log: EventLog) -> None:
    connection = log._file.connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.req("K27")
async def test_the_log_is_for_its_owner_alone(log: EventLog) -> None:
    file_rows(log, 1)
    await log.sync()
    directory = log.path.parent
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}


@pytest.mark.req("K27")
async def test_syncs_of_one_iteration_share_a_commit(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    commit = LogFile.commit

    def counted(self: LogFile, batch: object) -> None:
        sizes.append(len(batch))  # type: ignore[arg-type]
        commit(self, batch)  # type: ignore[arg-type]

    monkeypatch.setattr(LogFile, "commit", counted)

    async def produce(number: int) -> None:
        file_rows(log, 1, number)
        await log.sync()

    file_rows(log, 1)
    await log.sync()
    await asyncio.gather(*(produce(number) for number in range(16)))
    assert sizes[1:] == [16]


@pytest.mark.req("K27")
async def test_sync_with_nothing_to_write_returns_at_once(log: EventLog) -> None:
    waiting = log.sync()
    with pytest.raises(StopIteration):
        waiting.send(None)


@pytest.mark.req("K27")
async def test_a_cancelled_sync_takes_nobody_elses_rows_with_it(log: EventLog) -> None:
    file_rows(log, 1)
    given_up = asyncio.create_task(log.sync())
    patient = asyncio.create_task(log.sync())
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait_for(patient, 5)
    assert len(stored(log.path)) == 1


@pytest.mark.req("K27")
async def test_closing_writes_what_is_pending_and_leaves_a_single_file(tmp_path: Path) -> None:
    log = EventLog.create(tmp_path, SESSION)
    filed = file_rows(log, 5)
    await log.close()
    await log.close()
    assert list(tmp_path.iterdir()) == [log.path]
    assert list(read_events(log.path)) == filed
    assert list(tmp_path.iterdir()) == [log.path], "a reader leaves nothing beside it"


@pytest.mark.req("K27")
async def test_a_closed_log_takes_nothing_more(log: EventLog) -> None:
    await log.close()
    with pytest.raises(LogWriteError, match="closed"):
        file_rows(log, 1)
    with pytest.raises(LogWriteError, match="closed"):
        await log.sync()


@pytest.mark.req("K27", "K30")
async def test_a_log_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = EventLog.create(tmp_path, SESSION)
    file_rows(first, 3)
    ended = first.head
    await first.close()
    assert head(first.path) == ended
    again = EventLog.open(first.path)
    assert (again.session_id, again.sequence, again.head) == (SESSION, 3, ended)
    file_rows(again, 2, 3)
    await again.close()
    report = verify(first.path, again.head)
    assert (report.ok, report.rows) == (True, 5)
    assert [event.payload for event in read_events(first.path)] == [b"0", b"1", b"2", b"3", b"4"]
    assert {event.producer for event in read_events(first.path)} == {TOY}


@pytest.mark.req("K27")
async def test_a_session_has_one_kernel_at_a_time(log: EventLog) -> None:
    with pytest.raises(LogInUse, match="has this session open"):
        EventLog.open(log.path)
    file_rows(log, 1)
    await log.sync()
    assert len(stored(log.path)) == 1


@pytest.mark.req("K27")
async def test_a_session_id_is_not_used_twice(log: EventLog) -> None:
    path = log.path
    file_rows(log, 1)
    await log.close()
    with pytest.raises(LogWriteError, match="exists already"):
        EventLog.create(path.parent, SESSION)
    assert list(path.parent.iterdir()) == [path]
    assert len(stored(path)) == 1


@pytest.mark.req("K27", "R10")
async def test_order_is_kept_when_the_clock_is_set_back(tmp_path: Path) -> None:
    times = iter([2_000_000_000, 1_000_000_000, 3_000_000_000])
    log = EventLog.create(tmp_path, SESSION, clock=lambda: next(times))
    file_rows(log, 3)
    await log.close()
    events = list(read_events(log.path))
    assert [event.sequence for event in events] == [1, 2, 3]
    assert [event.time for event in events] == [2_000_000, 1_000_000, 3_000_000]
    assert verify(log.path).ok


@pytest.mark.req("K28")
async def test_rows_say_whom_the_kernel_knows_them_to_come_from(log: EventLog) -> None:
    other = Producer("toy", "1.2.4", "examples/toy", "tool", 1)
    for producer in (TOY, other, TOY):
        log.append(EventKind.MEMORY_WRITE, b"", schema_version="toy.1", producer=producer)
    log.append(EventKind.SESSION, b"{}", schema_version="json.1")
    await log.sync()
    producers = [event.producer for event in read_events(log.path)]
    assert producers[:3] == [TOY, other, TOY]
    assert producers[3].category == "kernel"


@pytest.mark.req("K27")
async def test_a_text_that_is_not_unicode_is_refused_before_anything_is_filed(
    log: EventLog,
) -> None:
    """Case session-log-06: SQLite would refuse it later, and with it everybody's commit."""
    with pytest.raises(ValueError, match="surrogate"):
        log.append(EventKind.MESSAGE, b"", schema_version="\ud800")
    with pytest.raises(ValueError, match="surrogate"):
        log.append(EventKind.MESSAGE, b"", schema_version="", producer=Producer("\ud800"))
    log.add_cost("session", "model", Usage(2**63, 0), 0.0)  # counts as nothing: no vendor means it
    assert [event.sequence for event in file_rows(log, 1)] == [1]
    await log.sync()
    assert verify(log.path).ok


@pytest.mark.req("K27")
async def test_payloads_are_kept_byte_for_byte(log: EventLog) -> None:
    """Case session-log-05, at this level: nothing reads a payload, and NUL ends nothing."""
    payload = "a\nb\r\nc\u2028d\x00e\x1b[0m".encode() + bytes(range(256))
    log.append(EventKind.TOOL_RESULT, payload, schema_version="test")
    await log.sync()
    assert next(read_events(log.path)).payload == payload


@pytest.mark.req("K27", "K30")
async def test_meta_and_costs_are_durable_with_the_rows(log: EventLog) -> None:
    log.put_meta("status", "running")
    log.put_meta("status", "completed\ud83d")
    file_rows(log, 1)
    log.add_cost("session", "m", Usage(10, 5), 0.25)
    log.add_cost("session", "m", Usage(10, 5), 0.5)
    log.add_cost("review", "r", Usage(1, 1), 0.125)
    assert "status" not in read_meta(log.path)
    await log.sync()
    assert read_meta(log.path) == {"session_id": SESSION, "status": "completed\\ud83d"}
    assert read_spent(log.path) == (0.75, Usage(20, 10)), "reviews count apart"


@pytest.mark.req("K27")
async def test_events_are_never_changed_by_mistake(log: EventLog) -> None:
    file_rows(log, 1)
    await log.close()
    connection = sqlite3.connect(log.path, isolation_level=None)
    for statement in ("UPDATE events SET payload = x'00'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


@pytest.mark.req("K27")
@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "no session log"), (b"not a database at all" * 100, "no session log")],
)
async def test_what_is_no_log_is_neither_opened_nor_changed(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(LogUnreadable, match=reason):
        EventLog.open(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.req("K27")
async def test_a_log_of_a_later_format_is_left_alone(log: EventLog) -> None:
    await log.close()
    connection = sqlite3.connect(log.path, isolation_level=None)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(LogUnreadable, match="later version"):
        EventLog.open(log.path)


@pytest.mark.req("K27")
async def test_a_log_that_is_not_there_is_not_made_by_opening_it(tmp_path: Path) -> None:
    with pytest.raises(LogUnreadable, match="no such log"):
        EventLog.open(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("K27", "R10")
def test_a_directory_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(NoStateDirectory, match="chmod 700"):
        EventLog.create(tmp_path, SESSION)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("R10")
def test_a_directory_that_cannot_be_made_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoStateDirectory, match="Set XDG_STATE_HOME"):
        EventLog.create(tmp_path / "file" / "sessions", SESSION)
