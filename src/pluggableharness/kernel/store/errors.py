"""What can go wrong with a session's log, drawn as a tree.

    HarnessError
    ├── RecordFailed
    │   ├── NoStateDirectory     there is no place for logs
    │   └── LogFailed            about one log, whose path it carries
    │       ├── LogInUse         another kernel has it open
    │       ├── LogBusy          another process holds SQLite's lock; what waits is kept
    │       └── LogWriteError    full, read-only, gone, damaged
    └── LogUnreadable            cannot be read: not there, not a log, damaged

SQLite's own exceptions become these in the functions at the end, and nowhere else.
"""

import sqlite3
from pathlib import Path

from pluggableharness.kernel.domain.errors import HarnessError, RecordFailed


class NoStateDirectory(RecordFailed):
    """There is no place for logs, or none that is safe."""

    before_start = True


class LogFailed(RecordFailed):
    """A log cannot be written; `path` is its file.

    `lasting` False means that the next `sync` tries the same rows again, in the same order;
    True that this log takes no more until it has been opened anew.
    """

    def __init__(self, path: Path, message: str, *, lasting: bool = True) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.lasting = lasting


class LogInUse(LogFailed):
    """Another kernel writes to this session."""


class LogBusy(LogFailed):
    """Another process held the file's lock for too long; nothing is lost."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(path, message, lasting=False)


class LogWriteError(LogFailed):
    """Rows could not be made durable."""


class LogUnreadable(HarnessError):
    """A log cannot be read; `path` is its file."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What reading a file can raise: SQLite's errors, and its binding's where a damaged file makes a
text, be it the error's own, no UTF-8."""

_NOT_WRITTEN = {
    sqlite3.SQLITE_FULL: "the disk is full. Free some space; rows not yet written are kept",
    sqlite3.SQLITE_READONLY: "the file or its directory is read-only. Make both writable",
    sqlite3.SQLITE_IOERR: "the disk refused the write. Look at the system's log and at quotas",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened. See that it and its directory exist and "
    "may be written",
    sqlite3.SQLITE_CONSTRAINT: "another program has written rows into this log. Stop it, and see "
    "`harness sessions verify`",
    sqlite3.SQLITE_CORRUPT: "the file is damaged. See `harness sessions verify`; the session can "
    "go on in a new one",
}

_KEPT = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY})
"""After these the rows stay pending and the file may recover; after any other none can say
what the disk holds, so that only opening it anew, with SQLite's recovery, is honest."""


def write_failure(path: Path, error: Exception) -> LogFailed:
    """What to raise for an exception while writing, which SQLite or its binding raised."""
    code = _code(error)
    if code in _BUSY:
        return LogBusy(
            path,
            "the log is busy: another process holds its lock. Close whatever has the file open "
            "for writing, and try again",
        )
    known = sqlite3.SQLITE_CORRUPT if code in _DAMAGED else code
    advice = _NOT_WRITTEN.get(known, "the rows could not be written")
    return LogWriteError(path, f"{advice} ({error})", lasting=code not in _KEPT)


def open_failure(path: Path, error: Exception) -> LogFailed | LogUnreadable:
    """What to raise for an exception of SQLite's while opening a log to write to it."""
    return read_failure(path, error) if _is_damage(error) else write_failure(path, error)


def read_failure(path: Path, error: Exception) -> LogUnreadable:
    """What to raise for one of READ_ERRORS while reading."""
    code = _code(error)
    if not path.exists():
        return LogUnreadable(path, "there is no such log")
    if code in _BUSY:
        return LogUnreadable(path, "another process has locked the file. Try again later")
    if _is_damage(error):
        return LogUnreadable(path, f"this is no session log, or it is damaged ({error})")
    return LogUnreadable(path, f"the file cannot be read ({error})")


def _is_damage(error: Exception) -> bool:
    return _code(error) in _DAMAGED or isinstance(error, UnicodeDecodeError)


def _code(error: Exception) -> int:
    """SQLite's result code without its extension; 0 for what others raised."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
