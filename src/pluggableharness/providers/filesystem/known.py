"""What each session has seen of which file, so that nobody's change is written over (C3).

A file is told from its former self by what it holds: a digest of all its bytes. Times alone
cannot do that, since a change of the same size may keep the time or have it set back. Files
beyond _DIGEST_LIMIT are told by their stamp, whose `ctime` no program can set back; see
docs/design/filesystem.md for when that is enough.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from pluggableharness.providers.filesystem.lines import CHUNK

_DIGEST_LIMIT: Final = 64 << 20
_SETTLED_NS: Final = 2_000_000_000
_REMEMBERED: Final = 20_000

PlaceKey = tuple[int, int, bytes]
Pieces = Sequence[bytes | bytearray | memoryview]
"""A content in parts, so that a large one need not be put together."""


class Stamp(Struct, frozen=True):
    """What the system notes about a version of a file."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def stamp_of(status: os.stat_result) -> Stamp:
    """Take the stamp out of what stat says."""
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Version(Struct, frozen=True):
    """One content of a file; `digest` is None for a large one that has not changed of late."""

    stamp: Stamp
    digest: bytes | None

    def is_still(self, now: "Version") -> bool:
        """Whether `now` holds the same bytes."""
        if self.digest is not None and now.digest is not None:
            return self.digest == now.digest
        return self.stamp == now.stamp


def new_digest() -> "hashlib._Hash":
    """Start a digest: SHA-1 for its speed, since nobody gains by a collision here."""
    return hashlib.sha1(usedforsecurity=False)


def needs_digest(status: os.stat_result) -> bool:
    """Whether the stamp alone may miss a change: the clock behind it ticks in milliseconds.

    A file that was last touched a while before it is read gets another `ctime` with any later
    change.
    """
    if status.st_size <= _DIGEST_LIMIT:
        return True
    return abs(time.time_ns() - status.st_ctime_ns) < _SETTLED_NS


def version_of(descriptor: int, status: os.stat_result, check: Callable[[], None]) -> Version:
    """Read an open file's present version; `check` may raise between chunks to give up."""
    if not needs_digest(status):
        return Version(stamp_of(status), None)
    digest = new_digest()
    at = 0
    while chunk := os.pread(descriptor, CHUNK, at):
        check()
        digest.update(chunk)
        at += len(chunk)
    return Version(stamp_of(status), digest.digest())


def digest_of(pieces: Pieces) -> bytes:
    """Digest a content that is at hand."""
    digest = new_digest()
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


class Known:
    """The versions that sessions have seen, the most recent ones of all sessions together.

    What falls out is refused as unread, which errs on the safe side. Threads may share it.
    """

    def __init__(self, limit: int = _REMEMBERED) -> None:
        self._limit = limit
        self._seen: OrderedDict[tuple[str, PlaceKey], Version] = OrderedDict()
        self._guard = threading.Lock()

    def note(self, session: str, place: PlaceKey, version: Version) -> None:
        """Note that a session knows this version of a file."""
        with self._guard:
            self._seen[session, place] = version
            self._seen.move_to_end((session, place))
            if len(self._seen) > self._limit:
                self._seen.popitem(last=False)

    def seen(self, session: str, place: PlaceKey) -> Version | None:
        """Return the version that a session saw last, or None."""
        return self._seen.get((session, place))
