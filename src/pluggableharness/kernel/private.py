"""Directories for us alone: where a provider and its kernel meet, and for what an editor is shown.

One is locked while its kernel lives, as only the operating system can be relied on to undo. What
a kernel left that was killed is removed by the next one.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Final

PREFIX: Final = "harness-at-"

_LONGEST: Final = 70
"""A socket's path may have 107 bytes; what is left is for the plugin's own file name."""

_SHORT: Final = "/tmp"  # noqa: S108  # what is made there is made as safely as anywhere

_TRIES: Final = 10

_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class PrivateDirectory:
    """A directory that only this user may enter, locked until it is removed."""

    def __init__(self, longest: int | None = _LONGEST) -> None:
        """Make it, its path of at most so many bytes. Raises OSError."""
        self.path = _made(longest)
        self._lock = _locked(self.path)
        for _ in range(_TRIES):
            if self._lock is not None:
                break
            # Another kernel took it for one that was left, in the moment before it was locked;
            # or nothing can be locked here, and then nothing is ever taken for one that was left.
            shutil.rmtree(self.path, ignore_errors=True)
            self.path = _made(longest)
            self._lock = _locked(self.path)

    def remove(self) -> None:
        """Remove it with all that is in it; once more is no mistake."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@cache
def clear_abandoned() -> None:
    """Remove, once a process, what kernels of this user left that were killed."""
    for path in _of_ours():
        lock = _locked(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _made(longest: int | None) -> str:
    path = tempfile.mkdtemp(prefix=PREFIX)
    if longest is not None and len(os.fsencode(path)) > longest:
        os.rmdir(path)
        path = tempfile.mkdtemp(prefix=PREFIX, dir=_SHORT)
    return path


def _of_ours() -> Iterator[str]:
    for folder in {tempfile.gettempdir(), _SHORT}:
        with suppress(OSError), os.scandir(folder) as entries:
            yield from [one.path for one in entries if one.name.startswith(PREFIX)]


def _locked(path: str) -> int | None:
    """A descriptor that holds the lock of a directory of this user's; None when none can.

    One that was removed meanwhile, or replaced, is not it.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if found.st_uid == os.geteuid() and os.path.samestat(found, os.lstat(path)):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
