"""Empty folders that stand for names which no command may take, while commands run (C14).

A mount needs something to lie on. Sandboxes of several processes may stand on one: each holds a
lock on it, and the last one takes it away; what a killed one left is taken over by the next.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.believed import STAND_IN_MODE

_ATTEMPTS: Final = 16
_NOT_FOR_US: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT})
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def stand_ins(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Have an empty folder at each path; gives those that are there, and takes them away after.

    Where this user may make none, no command of theirs can either.

    Raises:
        OSError: one cannot be made, so that nothing would hold its name.
    """
    with ExitStack() as held:
        made = []
        for path in paths:
            try:
                descriptor = _held(path)
            except OSError as error:
                if error.errno in _NOT_FOR_US:
                    continue
                raise
            held.callback(_let_go, path, descriptor)
            made.append(path)
        yield made


def _held(path: Path) -> int:
    """Return a descriptor of the folder at a path, with a shared lock on it."""
    for _ in range(_ATTEMPTS):
        try:
            os.mkdir(path, STAND_IN_MODE)
        except FileExistsError:
            pass
        try:
            descriptor = os.open(path, _FOLDER)
        except FileNotFoundError:
            continue  # the last one that stood on it was just leaving
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)
    raise OSError(errno.EBUSY, "it comes and goes", str(path))


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _let_go(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, descriptor):
            path.rmdir()
    except OSError:
        pass  # others stand on it, or something has been put into it
    finally:
        os.close(descriptor)
