"""All sessions at a glance: what a list shows of each, kept in one small file beside the logs.

The file is a copy and never the truth. A log counts as known when its inode, size and time of
change are those that were noted; any other is read anew, so that logs may come and go as they
like and the file may be removed at any time.
"""

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from pluggableharness.kernel.domain.session import BY_HAND
from pluggableharness.kernel.regular import opened
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.database import check_database
from pluggableharness.kernel.store.errors import READ_ERRORS, LogUnreadable
from pluggableharness.kernel.store.location import SUFFIX, unreadable
from pluggableharness.kernel.store.lock import holders, is_held

_FILE = "index"
_LARGEST = 1 << 28
"""Bytes of an index that are read: that is a million sessions."""

_PATIENCE_S = 1.0
RUNNING = "running"
INTERRUPTED = "interrupted"
"""The status of a session that no kernel has open and that none ended."""

UNREADABLE = "unreadable"

Stamp = tuple[int, int, int]
"""Inode, size in bytes, and time of change in nanoseconds."""


class Summary(msgspec.Struct, frozen=True, array_like=True):
    """What a list shows of a session.

    `started` and `last` are microseconds since 1970, those of the first and the last row.
    `status` is the session's own, INTERRUPTED, or UNREADABLE with the reason in `prompt`.
    """

    session_id: str
    status: str
    started: int = 0
    last: int = 0
    rows: int = 0
    cost_usd: float = 0.0
    working_directory: str = ""
    model: str = ""
    prompt: str = ""
    parent: str = ""

    @property
    def by_hand(self) -> bool:
        """Whether it is no more than a call that a person made by hand (K4)."""
        return self.model == BY_HAND

    @property
    def was_begun(self) -> bool:
        """Whether somebody began it as a session: no call by hand, and no sub-agent's."""
        return not self.by_hand and not self.parent


class _Known(msgspec.Struct, array_like=True):
    stamp: Stamp
    summary: Summary


_Index = dict[str, _Known]


def summaries(directory: Path) -> list[Summary]:
    """Every session below the directory, the oldest first; none when there is no directory.

    Raises NoStateDirectory when the directory cannot be read. That the index cannot be written is
    no error: the next list takes longer.
    """
    stamps, open_logs = _scan(directory)
    if not stamps:
        return []
    file = directory / _FILE
    known = _read_index(file)
    current = {
        name: known[name]
        if name in known and known[name].stamp == stamp and name not in open_logs
        else _Known(stamp, _summary(directory / name))
        for name, stamp in stamps.items()
    }
    kept = {name: entry for name, entry in current.items() if name not in open_logs}
    if kept.keys() != known.keys() or any(kept[name] is not known[name] for name in kept):
        _write_index(file, kept)
    return _with_ends(directory, (current[name].summary for name in sorted(current)))


def summary(log: Path) -> Summary:
    """What a list would show of one log; for an unreadable one its `status` says so."""
    (found,) = _with_ends(log.parent, [_summary(log)])
    return found


def _scan(directory: Path) -> tuple[dict[str, Stamp], set[str]]:
    """The logs with their stamps, and those that a kernel has or had open.

    What is written to those goes to another file first, so that their stamps say nothing.
    """
    stamps: dict[str, Stamp] = {}
    open_logs: set[str] = set()
    try:
        entries = os.scandir(directory)
    except FileNotFoundError:
        return stamps, open_logs
    except OSError as error:
        raise unreadable(directory, error) from error
    with entries:
        for entry in entries:
            name = entry.name
            if name.endswith(SUFFIX):
                try:
                    found = entry.stat()
                except OSError:
                    continue  # gone, or a link to nothing
                stamps[name] = found.st_ino, found.st_size, found.st_mtime_ns
            elif name.endswith((f"{SUFFIX}-wal", f"{SUFFIX}.lock")):
                open_logs.add(name[: name.rindex(SUFFIX) + len(SUFFIX)])
    return stamps, open_logs


def _read_index(file: Path) -> _Index:
    """What was noted; nothing when there is no index, or none of this form."""
    try:
        with opened(file) as index:
            return msgspec.msgpack.decode(index.read(_LARGEST), type=_Index)
    except (OSError, msgspec.DecodeError):
        return {}


def _write_index(file: Path, index: _Index) -> None:
    """Put the index in place whole, so that two lists at once do no harm to each other."""
    temporary = file.with_name(f"{_FILE}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as written:
            written.write(msgspec.msgpack.encode(index))
        temporary.replace(file)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def _summary(log: Path) -> Summary:
    try:
        check_database(log)
        uri = f"{log.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE_S)) as connection:
            meta = dict(connection.execute(tables.META))
            started, last, rows = connection.execute(tables.EXTENT).fetchone()
            (cost,) = connection.execute(tables.COST).fetchone()
    except (*READ_ERRORS, LogUnreadable) as error:
        return Summary(log.stem, UNREADABLE, prompt=str(error))
    return Summary(
        log.stem,
        str(meta.get("status", RUNNING)),
        int(started),
        int(last),
        rows,
        float(cost),
        str(meta.get("working_directory", "")),
        str(meta.get("model", "")),
        str(meta.get("prompt", "")),
        str(meta.get("parent", "")),
    )


def _with_ends(directory: Path, found: Iterable[Summary]) -> list[Summary]:
    """Tell the sessions that run from those whose kernel died."""
    every = list(found)
    if all(one.status != RUNNING for one in every):
        return every
    held = holders()
    return [
        one if one.status != RUNNING or is_held(directory / (one.session_id + SUFFIX), held)
        else msgspec.structs.replace(one, status=INTERRUPTED)
        for one in every
    ]  # fmt: skip
