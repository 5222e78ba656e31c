"""What a killed kernel left of a log, and where a log goes on.

SQLite recovers a write-ahead log by itself and in silence: it takes all whole commits and
drops what is behind them. Looking at the file before SQLite does tells what that was.
"""

import os
import sqlite3
import struct
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.chain import first_link, producer_digest
from pluggableharness.kernel.store.errors import READ_ERRORS, LogUnreadable, read_failure
from pluggableharness.kernel.store.rows import BadRow, events_after, fault, read_producers

_WAL_HEADER = struct.Struct(">IIIIIIII")
_FRAME_HEADER = struct.Struct(">IIII")
_FRAME_HEADER_BYTES = 24
_WAL_MAGIC = frozenset({0x377F0682, 0x377F0683})


@dataclass(frozen=True, slots=True)
class Tail:
    """Where a log goes on: its last row, and the producers it knows with their numbers and
    digests."""

    session_id: str
    sequence: int
    hash: bytes
    producers: dict[Producer, tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A write-ahead log as a killed kernel left it.

    `frames` counts what was written since it last began anew, a torn last one included;
    `commits` are the numbers of those frames that end a commit.
    """

    frames: int
    commits: tuple[int, ...]


def left_over(log: Path) -> LeftOver | None:
    """What stands in a log's write-ahead log; None for nothing.

    To be looked at under the log's lock, and before SQLite opens it.
    """
    try:
        with open(log.with_name(log.name + "-wal"), "rb") as wal:
            return _scan(wal.fileno())
    except FileNotFoundError:
        return None


def recovery_note(found: LeftOver, kept: int) -> JsonObject:
    """What the record says about a recovery; `kept` frames are what SQLite took over.

    A kernel starts no commit before the last one is on disk, so at most one can be torn by
    its death. If more were dropped, the disk lost what it had confirmed.
    """
    lost = sum(frame > kept for frame in found.commits)
    text = "The kernel before did not close this log; what it had acknowledged was recovered."
    if lost > 1:
        text = "The log was damaged on disk: rows that had been acknowledged may be missing."
    return {
        "event": "recovered",
        "message": text,
        "frames_kept": kept,
        "frames_dropped": max(found.frames - kept, 0),
        "commits_dropped": lost,
    }


def read_tail(path: Path, connection: sqlite3.Connection) -> Tail:
    """Where a log goes on, after its last row has been verified.

    The rows before are `verify`'s matter, since that takes time with their number. Raises
    LogUnreadable, also for a file whose damage SQLite meets only here, behind its head.
    """
    try:
        return _read_tail(path, connection)
    except READ_ERRORS as error:
        raise read_failure(path, error) from error


def _read_tail(path: Path, connection: sqlite3.Connection) -> Tail:
    session_id = read_session_id(path, connection)
    (last,) = connection.execute(tables.LAST_SEQUENCE).fetchone()
    try:
        *_, before, event = [None, None, *events_after(connection, last - 2)]
        mark = before.hash if before else first_link(session_id)
        if event is not None:
            if reason := fault(event, last, mark):
                raise BadRow(last, reason)
            mark = event.hash
    except BadRow as bad:
        raise LogUnreadable(
            path, f"{bad}. See `harness sessions verify`; no row was added or changed"
        ) from bad
    producers = {
        producer: (key, producer_digest(producer))
        for key, producer in read_producers(connection).items()
    }
    return Tail(session_id, last, mark, producers)


def read_session_id(path: Path, connection: sqlite3.Connection) -> str:
    """The session that a log says it belongs to. Raises LogUnreadable when it says none."""
    session_id = dict(connection.execute(tables.META)).get("session_id")
    if not isinstance(session_id, str):
        raise LogUnreadable(path, "the log does not say which session it belongs to")
    return session_id


def _scan(wal: int) -> LeftOver | None:
    """Count the frames whose salts are those of the header: the others are older."""
    header = os.pread(wal, _WAL_HEADER.size, 0)
    if len(header) < _WAL_HEADER.size:
        return None
    magic, _, page_bytes, _, *salts, _, _ = _WAL_HEADER.unpack(header)
    if magic not in _WAL_MAGIC:
        return None
    frames, commits = 0, []
    step = _FRAME_HEADER_BYTES + page_bytes
    while True:
        frame = os.pread(wal, _FRAME_HEADER.size, _WAL_HEADER.size + frames * step)
        if len(frame) < _FRAME_HEADER.size:
            break
        _, pages_after_commit, *frame_salts = _FRAME_HEADER.unpack(frame)
        if frame_salts != salts:
            break
        frames += 1
        if pages_after_commit:
            commits.append(frames)
    return LeftOver(frames, tuple(commits)) if frames else None
