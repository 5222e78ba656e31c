"""What the hash chain shows, and what only a known head shows."""

import sqlite3
from pathlib import Path

import pytest
from store_logs import SESSION, TOY, direct, file_rows

from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store.chain import first_link, link, producer_digest
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import head, read_events, verify


@pytest.fixture
async def closed(tmp_path: Path) -> tuple[Path, str]:
    """A log of ten rows at rest, and its head."""
    log = EventLog.create(tmp_path / "sessions", SESSION)
    file_rows(log, 10)
    await log.close()
    return log.path, log.head


@pytest.mark.req("K29")
def test_a_log_as_it_was_written_verifies(closed: tuple[Path, str]) -> None:
    path, known = closed
    for expected in (None, known, f" {known.upper()}\n"):
        report = verify(path, expected)
        assert (report.ok, report.rows, report.head) == (True, 10, known)
    assert head(path) == known


@pytest.mark.req("K29")
@pytest.mark.parametrize(
    ("statement", "first_bad"),
    [
        ("UPDATE events SET payload = x'00' WHERE sequence = 4", 4),
        ("UPDATE events SET payload = CAST(payload AS TEXT) WHERE sequence = 4", 4),
        ("UPDATE events SET hash = zeroblob(32) WHERE sequence = 4", 4),
        ("UPDATE events SET time = time + 1 WHERE sequence = 1", 1),
        ("UPDATE events SET time = 'noon' WHERE sequence = 5", 5),
        ("UPDATE events SET kind = 'plan' WHERE sequence = 10", 10),
        ("UPDATE events SET id = 'other' WHERE sequence = 10", 10),
        ("UPDATE events SET schema_version = '' WHERE sequence = 7", 7),
        ("UPDATE events SET producer = 9 WHERE sequence = 3", 3),
        ("UPDATE producers SET version = '6.6.6'", 1),
        ("UPDATE producers SET name = x'00'", 1),
        ("UPDATE producers SET protocol_version = 'one'", 1),
        ("UPDATE events SET sequence = -1 WHERE sequence = 1", -1),
        ("UPDATE session_meta SET value = 'other' WHERE key = 'session_id'", 1),
        ("DELETE FROM events WHERE sequence = 5", 5),
        ("DELETE FROM events WHERE sequence = 1", 1),
        ("INSERT INTO events SELECT 0, 'x', 0, '', 1, '', x'', x'' FROM events LIMIT 1", 0),
        ("INSERT INTO events SELECT 11, 'x', 0, '', 1, '', x'', x'' FROM events LIMIT 1", 11),
    ],
)
def test_any_change_is_shown_with_the_first_row_to_doubt(
    closed: tuple[Path, str], statement: str, first_bad: int
) -> None:
    path, _ = closed
    with direct(path) as file:
        file.execute(statement)
    report = verify(path)
    assert not report.ok
    assert report.first_bad == first_bad
    assert f"row {first_bad}" in report.fault
    assert report.rows == max(first_bad - 1, 0)


@pytest.mark.req("K29")
def test_two_rows_that_changed_places_are_shown(closed: tuple[Path, str]) -> None:
    path, _ = closed
    with direct(path) as file:
        for before, after in ((4, 99), (5, 4), (99, 5)):
            file.execute("UPDATE events SET sequence = ? WHERE sequence = ?", (after, before))
    assert verify(path).first_bad == 4


@pytest.mark.req("K29")
def test_rows_cut_off_the_end_are_shown_by_the_known_head_alone(
    closed: tuple[Path, str],
) -> None:
    path, known = closed
    with direct(path) as file:
        file.execute("DELETE FROM events WHERE sequence > 8")
    assert verify(path).ok
    report = verify(path, known)
    assert not report.ok
    assert "cut off" in report.fault


@pytest.mark.req("K29")
async def test_rows_added_behind_the_known_head_are_shown(closed: tuple[Path, str]) -> None:
    path, known = closed
    log = EventLog.open(path)
    file_rows(log, 2)
    await log.close()
    assert verify(path, log.head).ok
    report = verify(path, known)
    assert (report.ok, report.first_bad) == (False, 11)
    assert "added after" in report.fault


def rebuild(file: sqlite3.Connection) -> None:
    """Change the first row, and forge all hashes from there on."""
    file.execute("UPDATE events SET payload = x'00' WHERE sequence = 1")
    mark = first_link(SESSION)
    for row in file.execute("SELECT * FROM events ORDER BY sequence").fetchall():
        sequence, event_id, time, kind, _, version, payload, _ = row
        digest = producer_digest(TOY)
        mark = link(mark, sequence, time, digest, event_id, kind, version, payload)
        file.execute("UPDATE events SET hash = ? WHERE sequence = ?", (mark, sequence))


@pytest.mark.req("K29")
def test_a_rebuilt_log_is_shown_by_the_known_head_alone(closed: tuple[Path, str]) -> None:
    path, known = closed
    with direct(path) as file:
        rebuild(file)
    assert verify(path).ok
    assert not verify(path, known).ok


@pytest.mark.req("K29", "R10")
async def test_damage_in_the_file_is_reported_behind_the_last_good_row(tmp_path: Path) -> None:
    log = EventLog.create(tmp_path, SESSION)
    for _ in range(100):
        log.append(EventKind.MESSAGE, bytes(1000), schema_version="test")
    await log.close()
    content = bytearray(log.path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    log.path.write_bytes(bytes(content))
    report = verify(log.path)
    assert not report.ok
    assert report.first_bad == report.rows + 1
    with pytest.raises(LogUnreadable, match="damaged"):
        list(read_events(log.path))


@pytest.mark.req("K29")
def test_what_is_no_log_cannot_be_verified(tmp_path: Path) -> None:
    with pytest.raises(LogUnreadable, match="no such log"):
        verify(tmp_path / "none.sqlite")
    other = tmp_path / "odd ?#%name.sqlite"
    other.write_bytes(b"x" * 8192)
    with pytest.raises(LogUnreadable, match="no session log"):
        verify(other)
