"""Rows of a log as events, and what can be wrong with one."""

import sqlite3
from collections.abc import Iterator
from typing import Any, TypeGuard

from pluggableharness.kernel.domain.event import Event, Producer
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.chain import link, producer_digest

_PAGE_ROWS = 256
_Row = tuple[int, str, int, str, int, str, bytes, bytes]
_ROW_TYPES = (int, str, int, str, int, str, bytes, bytes)
_PRODUCER_TYPES = (int, str, str, str, str, int)
"""SQLite stores any type in any column, whatever was declared."""


class BadRow(Exception):
    """A row that the kernel did not write so; `sequence` is its number."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(f"row {sequence} {reason}")
        self.sequence = sequence
        self.reason = reason


def events_after(connection: sqlite3.Connection, sequence: int) -> Iterator[Event]:
    """All events behind a row, in order, in pages: no transaction is open between two, so
    that a slow reader holds up no checkpoint. Raises BadRow and sqlite3.Error."""
    producers = read_producers(connection)
    while rows := connection.execute(tables.EVENTS_AFTER, (sequence, _PAGE_ROWS)).fetchall():
        if any(row[4] not in producers for row in rows):
            producers = read_producers(connection)
        for row in rows:
            yield _event(row, producers)
        sequence = rows[-1][0]


def read_producers(connection: sqlite3.Connection) -> dict[int, Producer]:
    """The producers of a log by their numbers in it, without those that nobody wrote so."""
    rows = connection.execute(tables.PRODUCERS)
    return {row[0]: Producer(*row[1:]) for row in rows if tuple(map(type, row)) == _PRODUCER_TYPES}


def fault(event: Event, sequence: int, before: bytes) -> str:
    """Why an event is not the one numbered `sequence` that follows the hash `before` (K29);
    empty when it is."""
    if event.sequence != sequence:
        return f"stands where row {sequence} should: rows are missing or were put in"
    expected = link(
        before,
        event.sequence,
        event.time,
        producer_digest(event.producer),
        event.id,
        event.kind,
        event.schema_version,
        event.payload,
    )
    if expected != event.hash:
        return "was changed, or does not belong behind the row before it"
    return ""


def _event(row: tuple[Any, ...], producers: dict[int, Producer]) -> Event:
    if not _is_whole(row):
        raise BadRow(row[0], "holds a value of the wrong type")
    sequence, event_id, time, kind, key, version, payload, mark = row
    producer = producers.get(key)
    if producer is None:
        raise BadRow(sequence, "names a producer that the log does not have")
    return Event(sequence, event_id, time, kind, producer, version, payload, mark)


def _is_whole(row: tuple[Any, ...]) -> TypeGuard[_Row]:
    # A pattern with a class for each value takes thrice as long, and a replay reads many (S13).
    return tuple(map(type, row)) == _ROW_TYPES
