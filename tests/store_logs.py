"""What the tests of the store share: a session's name, rows, and a second way to the file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.store.log import EventLog

SESSION = "01JZ0000000000000000000000"
TOY = Producer("toy", "1.2.3", "examples/toy", "tool", 1)


def file_rows(log: EventLog, count: int, start: int = 0) -> list[Event]:
    """File rows whose payloads are their numbers."""
    return [
        log.append(EventKind.MESSAGE, str(number).encode(), schema_version="test", producer=TOY)
        for number in range(start, start + count)
    ]


@contextmanager
def direct(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as another program sees it, free to change anything."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=5)
    try:
        connection.execute("DROP TRIGGER IF EXISTS events_are_never_changed")
        connection.execute("DROP TRIGGER IF EXISTS events_are_never_removed")
        yield connection
    finally:
        connection.close()


def stored(path: Path) -> list[tuple[int, bytes]]:
    """Sequence and payload of what a reader finds, by plain SQLite."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT sequence, payload FROM events ORDER BY 1").fetchall()
    finally:
        connection.close()
