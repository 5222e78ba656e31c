"""What is said about a log whose kernel was killed. The killing itself is tests/process."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from store_logs import SESSION, TOY, direct, file_rows

from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store import file as file_module
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.index import summaries
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import read_events, verify
from pluggableharness.kernel.store.recovery import left_over


async def killed_log(log: EventLog, directory: Path, commits: int = 3) -> Path:
    """What the disk holds when a kernel is killed after some commits of two rows each."""
    for number in range(commits):
        file_rows(log, 2, 2 * number)
        await log.sync()
    directory.mkdir(mode=0o700)
    for path in log.path.parent.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copy(path, directory / path.name)
    return directory / log.path.name


async def reopened(path: Path) -> dict[str, object]:
    """Open a log, close it, and return what its last row says."""
    log = EventLog.open(path)
    await log.close()
    assert verify(path, log.head).ok
    *_, last = read_events(path)
    assert (last.kind, last.schema_version, last.producer.name) == ("session", "json.1", "kernel")
    facts: dict[str, object] = json.loads(last.payload)
    return facts


@pytest.mark.req("K27", "R2")
async def test_what_a_killed_kernel_had_acknowledged_is_recovered_with_a_note(
    log: EventLog, tmp_path: Path
) -> None:
    path = await killed_log(log, tmp_path / "killed")
    note = await reopened(path)
    assert note["event"] == "recovered"
    assert (note["frames_dropped"], note["commits_dropped"]) == (0, 0)
    assert [event.payload for event in read_events(path)][:-1] == [b"%d" % n for n in range(6)]


@pytest.mark.req("K27", "R2")
@pytest.mark.parametrize("torn", [1, 20, 3000])
async def test_a_torn_tail_is_dropped_and_the_note_says_so(
    log: EventLog, tmp_path: Path, torn: int
) -> None:
    path = await killed_log(log, tmp_path / "killed")
    wal = path.with_name(path.name + "-wal")
    content = wal.read_bytes()
    wal.write_bytes(content[:-torn])
    note = await reopened(path)
    assert note["commits_dropped"] == 1
    assert "acknowledged was recovered" in str(note["message"])
    assert [event.payload for event in read_events(path)][:-1] == [b"%d" % n for n in range(4)]


@pytest.mark.req("K27", "R10")
async def test_a_log_that_lost_acknowledged_commits_says_that_it_was_damaged(
    log: EventLog, tmp_path: Path
) -> None:
    path = await killed_log(log, tmp_path / "killed", commits=6)
    wal = path.with_name(path.name + "-wal")
    found = left_over(path)
    assert found is not None
    content = bytearray(wal.read_bytes())
    content[32 + (found.commits[-3] - 1) * (24 + 4096) + 100] ^= 0xFF
    wal.write_bytes(bytes(content))
    note = await reopened(path)
    assert note["commits_dropped"] == 3
    assert "may be missing" in str(note["message"])


@pytest.mark.req("K27", "R2")
async def test_what_stands_there_from_before_a_checkpoint_is_not_taken_for_a_torn_tail(
    log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "_CHECKPOINT_BYTES", 150_000)
    file_rows(log, 1)
    for _ in range(15):
        file_rows(log, 1)
        await log.sync()
    path = await killed_log(log, tmp_path / "killed", commits=1)
    note = await reopened(path)
    assert (note["frames_dropped"], note["commits_dropped"]) == (0, 0)
    assert 0 < int(str(note["frames_kept"])) < 30


@pytest.mark.req("K27")
async def test_a_log_closed_in_order_gets_no_note(log: EventLog) -> None:
    file_rows(log, 2)
    await log.close()
    again = EventLog.open(log.path)
    assert again.sequence == 2
    await again.close()


@pytest.mark.req("K27")
async def test_a_log_that_a_reader_kept_in_wal_mode_was_closed_in_order(log: EventLog) -> None:
    file_rows(log, 2)
    await log.sync()
    with direct(log.path) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        await log.close()
    again = EventLog.open(log.path)
    assert again.sequence == 2
    await again.close()


@pytest.mark.req("K27")
async def test_the_lock_of_a_killed_kernel_is_taken_over(log: EventLog, tmp_path: Path) -> None:
    path = await killed_log(log, tmp_path / "killed")
    assert path.with_name(path.name + ".lock").exists()
    await EventLog.open(path).close()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.req("K29")
async def test_a_log_whose_last_row_was_changed_is_not_gone_on_with(log: EventLog) -> None:
    file_rows(log, 3)
    await log.close()
    with direct(log.path) as file:
        file.execute("UPDATE events SET payload = x'00' WHERE sequence = 3")
    with pytest.raises(LogUnreadable, match="row 3 was changed"):
        EventLog.open(log.path)
    assert list(log.path.parent.iterdir()) == [log.path]


@pytest.mark.req("K29")
async def test_a_log_that_does_not_name_its_session_is_not_opened(log: EventLog) -> None:
    await log.close()
    with direct(log.path) as file:
        file.execute("DELETE FROM session_meta")
    with pytest.raises(LogUnreadable, match="does not say which session"):
        EventLog.open(log.path)


@pytest.mark.req("K27")
async def test_an_empty_log_goes_on_at_row_one(tmp_path: Path) -> None:
    log = EventLog.create(tmp_path, SESSION)
    await log.close()
    again = EventLog.open(log.path)
    assert [event.sequence for event in file_rows(again, 1)] == [1]
    await again.close()
    assert verify(log.path, again.head).ok


@pytest.mark.req("K27", "R10")
@pytest.mark.parametrize("length", [1, 64, 4096])
async def test_damage_anywhere_in_a_log_is_a_clear_error_when_it_is_opened_or_goes_on(
    tmp_path: Path, length: int
) -> None:
    log = EventLog.create(tmp_path / "sessions", SESSION)
    for _ in range(12):
        log.append(EventKind.MESSAGE, bytes(1000), schema_version="test", producer=TOY)
    await log.close()
    whole = log.path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 512):
        damaged = bytearray(whole)
        damaged[place : place + length] = bytes(byte ^ 0xA5 for byte in whole[place:][:length])
        log.path.write_bytes(damaged)
        for reads in (verify, read_session, lambda path: list(summaries(path.parent))):
            with suppress(HarnessError):
                reads(log.path)
        try:
            again = EventLog.open(log.path)
        except HarnessError:
            refused += 1
        else:
            await again.close()
    assert refused > 0
