"""A log's file, open for writing: whole batches, each in one durable transaction.

It knows SQLite and the disk; what is in a row, and who waits for it, is `log`'s matter. Not
safe for two threads at once: `log` lets one in at a time.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.database import check_database
from pluggableharness.kernel.store.errors import (
    READ_ERRORS,
    LogUnreadable,
    LogWriteError,
    open_failure,
    write_failure,
)
from pluggableharness.kernel.store.lock import Lock, drop_lock, take_lock
from pluggableharness.kernel.store.recovery import LeftOver, left_over

PATIENCE_S = 10.0
"""How long a commit waits for another process's lock, in seconds."""

_CLOSING_PATIENCE_MS = 1000

ROW_BYTES = 160
"""About what a row takes besides its payload."""

_CHECKPOINT_BYTES = 4 << 20
_RESERVE_AFTER_BYTES = 64 << 10
_RESERVED_BYTES = _CHECKPOINT_BYTES + (256 << 10)
_PAGE_BYTES = 4096
_LEAST_PAGES = 3
"""What even the smallest commit adds to the write-ahead log: a leaf of `events`, one of the
index of its ids, and on the average one more."""


@dataclass(slots=True)
class Batch:
    """What one transaction writes: `rows` of events, then `statements` with their values.

    `size` is about the number of bytes; `len` tells whether there is anything to write.
    """

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    statements: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    size: int = 0

    def __len__(self) -> int:
        return len(self.rows) + len(self.statements)

    def extend(self, later: "Batch") -> None:
        """Put a later batch behind this one."""
        self.rows += later.rows
        self.statements += later.statements
        self.size += later.size


class LogFile:
    """An open log: locked against other kernels, its SQLite connection, and its checkpoints.

    `last_commit_s` is how long the last commit took, in seconds, waiting for locks included.
    `left_over` is what a kernel left that did not close the log in order, or None.
    """

    def __init__(
        self,
        path: Path,
        lock: Lock,
        connection: sqlite3.Connection,
        left_over: LeftOver | None = None,
    ) -> None:
        self.path = path
        self.left_over = left_over
        self.connection = connection
        self.last_commit_s = 0.0
        self._lock = lock
        self._wal = path.with_name(path.name + "-wal")
        self._identity = self._identify()
        self._unchecked = 0
        self._reserved = False

    @classmethod
    def create(cls, path: Path, session_id: str) -> "LogFile":
        """Make the file, its tables and its first meta entry; it must not be there yet.

        What fails half way leaves nothing behind. Raises LogFailed.
        """
        with ExitStack() as undo, _translated(path):
            lock = take_lock(path)
            undo.callback(drop_lock, lock, path)
            _make_empty(path)
            undo.callback(_remove, path)
            connection = undo.enter_context(closing(_connect(path)))
            _prepare(path, connection)
            connection.executescript(tables.CREATE)
            connection.execute(tables.PUT_META, ("session_id", session_id))
            made = cls(path, lock, connection)
            undo.pop_all()
        return made

    @classmethod
    def open(cls, path: Path) -> "LogFile":
        """Open a log that is there; SQLite recovers what a killed kernel left.

        Waits up to PATIENCE_S for readers. Raises LogFailed, or LogUnreadable when it is no
        log of ours.
        """
        check_database(path)
        with ExitStack() as undo, _translated(path):
            lock = take_lock(path)
            undo.callback(drop_lock, lock, path)
            found = left_over(path) if lock.left else None
            connection = undo.enter_context(closing(_connect(path)))
            _check_format(path, connection)
            _prepare(path, connection)
            opened = cls(path, lock, connection, found)
            undo.pop_all()
        return opened

    def commit(self, batch: Batch) -> None:
        """Write a batch and return when it is durable; never waits for another's lock.

        Raises LogBusy when there is one, else LogWriteError. Nothing of the batch is in the
        file then, save for a lasting error, after which only opening it anew can tell.
        """
        began = perf_counter()
        try:
            self._write(batch)
        except Exception as error:
            self._roll_back()
            raise write_failure(self.path, error) from error
        finally:
            self.last_commit_s = perf_counter() - began
        if self._identity is None or self._identify() != self._identity:
            raise LogWriteError(
                self.path,
                "the log was removed or replaced while in use; what is written now would be "
                "lost. Put it back and resume the session, or start a new one",
            )
        self._unchecked += batch.size + _LEAST_PAGES * _PAGE_BYTES

    def commit_patiently(self, batch: Batch) -> None:
        """As `commit`, but waits up to PATIENCE_S for a lock, and does the upkeep that is due.

        For a thread of its own. Raises LogBusy and LogWriteError.
        """
        self.connection.execute(f"PRAGMA busy_timeout = {int(PATIENCE_S * 1000)}")
        try:
            self.commit(batch)
        finally:
            self.connection.execute("PRAGMA busy_timeout = 0")
        if self._unchecked >= _CHECKPOINT_BYTES:
            self._checkpoint()
        elif self.upkeep_due:
            self._reserve()

    @property
    def upkeep_due(self) -> bool:
        """Whether the next commit should be a patient one, for the sake of later ones."""
        return self._unchecked >= (_CHECKPOINT_BYTES if self._reserved else _RESERVE_AFTER_BYTES)

    def kept_frames(self) -> int:
        """How many frames of the write-ahead log SQLite took over when it opened the file."""
        (_, frames, _) = self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return max(int(frames), 0)

    def close(self) -> None:
        """Leave a single file that needs no recovery and that a reader leaves nothing beside.

        For that it goes back from WAL to SQLite's plain journal. When a reader is in the way
        it stays as it is, which is no loss: whoever opens it next completes the work.
        """
        try:
            self.connection.execute(f"PRAGMA busy_timeout = {_CLOSING_PATIENCE_MS}")
            self.connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            pass
        finally:
            self.connection.close()
            drop_lock(self._lock, self.path)

    def _write(self, batch: Batch) -> None:
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        self.connection.executemany(tables.ADD_EVENT, batch.rows)
        for statement, values in batch.statements:
            execute(statement, values)
        execute("COMMIT")

    def _roll_back(self) -> None:
        """SQLite has mostly done so itself; if this fails too, the first error tells more."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except sqlite3.Error:
            pass

    def _checkpoint(self) -> None:
        """Move what no reader needs any more; rows are durable before, so failing costs space
        only, and the next one that is due tries again."""
        self._unchecked = 0
        try:
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error:
            pass

    def _reserve(self) -> None:
        """Lengthen the write-ahead log by zeros, which no reader takes for frames.

        Syncing what overwrites a file takes half the time of syncing what lengthens it. A
        session of a few calls is over before this pays. Without room it has to do without.
        """
        self._reserved = True
        try:
            with open(self._wal, "r+b", buffering=0) as wal:
                size = os.fstat(wal.fileno()).st_size
                missing = max(_RESERVED_BYTES - size, 0)
                if os.pwrite(wal.fileno(), bytes(missing), size) < missing:
                    os.ftruncate(wal.fileno(), size)
                os.fdatasync(wal.fileno())
        except OSError:
            pass

    def _identify(self) -> tuple[int, int, int] | None:
        """Which files the paths lead to: SQLite goes on writing to removed ones, and says yes."""
        try:
            file, wal = os.stat(self.path), os.stat(self._wal)
        except OSError:
            return None
        return file.st_dev, file.st_ino, wal.st_ino


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say while opening into errors of ours."""
    try:
        yield
    except READ_ERRORS as error:
        raise open_failure(path, error) from error
    except FileExistsError as error:
        raise LogWriteError(path, "a session with this id exists already") from error
    except OSError as error:
        advice = f"the file cannot be created ({error.strerror}). Set XDG_STATE_HOME elsewhere"
        raise LogWriteError(path, advice) from error


def _make_empty(path: Path) -> None:
    """Create the file for its owner alone, and its directory entry to last.

    SQLite gives the same mode to the files that it puts beside it.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    """Open for writing, with a patience that serves the opening alone: a reader of a log at
    rest holds up the change to WAL for as long as it reads."""
    return sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)


def _check_format(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != tables.APPLICATION_ID:
        raise LogUnreadable(path, "this is no session log")
    if version > tables.FORMAT:
        raise LogUnreadable(
            path, f"format {version} was written by a later version. Update this one"
        )


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    """WAL, every commit on disk before it returns, and checkpoints when we say."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise LogWriteError(
            path,
            f"this file system does not allow SQLite's WAL (journal mode is {mode}). Set "
            "XDG_STATE_HOME to a directory on a local disk",
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    # The first read makes the files beside the log, which are then watched.
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
