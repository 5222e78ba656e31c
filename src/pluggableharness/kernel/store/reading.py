"""Logs as others read them, while the kernel writes or long after: read-only, never locked out.

Nothing here needs an event loop or the codec: payloads stay the bytes that they are.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pluggableharness.kernel.domain.event import Event
from pluggableharness.kernel.domain.message import Usage
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.chain import first_link
from pluggableharness.kernel.store.database import check_database
from pluggableharness.kernel.store.errors import READ_ERRORS, LogUnreadable, read_failure
from pluggableharness.kernel.store.recovery import read_session_id
from pluggableharness.kernel.store.rows import BadRow, events_after, fault

_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What verifying a log found (K29).

    `rows` is how many rows from the first on are as the kernel wrote them, and `head` the
    hash of the last of these, in hex. `fault` is empty when that is all of the log and the
    head is the expected one; else it says what is wrong, and `first_bad` is the number of
    the first row to doubt, or None when there is no telling.
    """

    path: Path
    session_id: str
    rows: int
    head: str
    fault: str = ""
    first_bad: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the log is what was written."""
        return not self.fault


def read_events(path: Path, after: int = 0) -> Iterator[Event]:
    """The events behind row `after`, in order, as many as there are when each page is read.

    Hashes are `verify`'s matter. Raises LogUnreadable, which may come after some events when
    the file is damaged further on.
    """
    with _reading(path) as connection:
        yield from events_after(connection, after)


def read_meta(path: Path) -> dict[str, str]:
    """The entries of `session_meta`. Raises LogUnreadable."""
    with _reading(path) as connection:
        meta = dict(connection.execute(tables.META))
    if not all(isinstance(text, str) for pair in meta.items() for text in pair):
        raise LogUnreadable(path, "what it says of its session is no text")
    return meta


def read_spent(path: Path) -> tuple[float, Usage]:
    """The dollars and tokens of a session and those below it; reviews count apart (K8, K30).

    Raises LogUnreadable.
    """
    with _reading(path) as connection:
        cost_usd, read, written = connection.execute(tables.SPENT).fetchone()
        return float(cost_usd), Usage(read, written)


def head(path: Path) -> str:
    """The hash of the last row, in hex, unverified. Raises LogUnreadable."""
    with _reading(path) as connection:
        (last,) = connection.execute(tables.LAST_SEQUENCE).fetchone()
        events = list(events_after(connection, last - 1))
        mark = events[-1].hash if events else first_link(read_session_id(path, connection))
    return mark.hex()


def verify(path: Path, head: str | None = None) -> VerifyReport:
    """Compare every row with its hash and the row before it, and the last one with `head`.

    Without a head this shows any change that did not rebuild all later rows, and neither rows
    cut off at the end nor a log rebuilt from scratch; with the head that was printed when the
    session ended it shows every change of its events. Raises LogUnreadable when there is no
    log to verify.
    """
    with _reading(path) as connection:
        session_id = read_session_id(path, connection)
        report = _follow(path, connection, session_id)
        if report.ok and head is not None and report.head != head.strip().lower():
            return _wrong_head(connection, report, head.strip().lower())
    return report


def _follow(path: Path, connection: sqlite3.Connection, session_id: str) -> VerifyReport:
    """The chain from the first row to the last, or to the first that does not belong."""
    rows, mark = 0, first_link(session_id)
    reason, first_bad = "", None
    try:
        for event in events_after(connection, _BEFORE_ALL):
            if reason := fault(event, rows + 1, mark):
                first_bad = min(rows + 1, event.sequence)
                break
            rows, mark = event.sequence, event.hash
    except BadRow as bad:
        reason, first_bad = bad.reason, bad.sequence
    except READ_ERRORS as error:
        reason, first_bad = f"cannot be read: the file is damaged ({error})", rows + 1
    if reason:
        reason = f"row {first_bad} {reason}"
    return VerifyReport(path, session_id, rows, mark.hex(), reason, first_bad)


_BEFORE_ALL = -(2**63)
"""Below every sequence, so that rows put before the first are seen."""


def _wrong_head(
    connection: sqlite3.Connection, report: VerifyReport, expected: str
) -> VerifyReport:
    reason = (
        f"the last row's hash is {report.head} and not {expected}: rows were cut off or the log "
        "was rebuilt, or this is the head of another log"
    )
    first_bad = None
    for event in events_after(connection, 0):
        if event.hash.hex() == expected:
            first_bad = event.sequence + 1
            reason = f"row {first_bad} and those behind it were added after this head was noted"
    return replace(report, fault=reason, first_bad=first_bad)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection, with whatever goes wrong turned into LogUnreadable."""
    check_database(path)
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(uri, uri=True, timeout=_PATIENCE_S, isolation_level=None)
        ) as connection:
            yield connection
    except READ_ERRORS as error:
        raise read_failure(path, error) from error
    except BadRow as bad:
        raise LogUnreadable(path, f"{bad}. See `harness sessions verify`") from bad
