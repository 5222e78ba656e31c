"""Opening a directory beneath another, with no link on the way, by the system's own means (C1).

Two ways that give the same answers: `openat2` where the kernel has it, else one descriptor
after the other. Neither follows a link of any sort: what to do about links is decided by
`resolution`. Knows nothing of roots.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path

Names = tuple[bytes, ...]
"""The parts of a path, without `.`, empty ones or separators."""

Descend = Callable[[int, Names], int]
"""From an open directory down through names to an O_PATH descriptor of a directory.

Raises OSError: ELOOP for a link on the way, ENOTDIR for anything else that is no directory,
ENOENT, EACCES. The names hold no `..`.
"""

_OPEN_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_OPEN_AS_IT_IS = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

# One number on every architecture that got its table after 2019, which is all that CPython
# supports on Linux.
_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_PROC_SUPER_MAGIC = 0x9FA0
_ROOM_FOR_STATFS = 256


class _OpenHow(ctypes.Structure):
    """`struct open_how` of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


_HOW = _OpenHow(
    _OPEN_DIRECTORY, 0, _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def by_openat2(start: int, names: Names) -> int:
    """Descend in one system call that the kernel itself keeps beneath `start`."""
    path = b"/".join(names) or b"."
    how = ctypes.byref(_HOW)
    size = ctypes.sizeof(_HOW)
    descriptor = _libc().syscall(_SYS_OPENAT2, start, path, how, size)
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(descriptor)


def by_steps(start: int, names: Names) -> int:
    """Descend a name at a time, each opened in the directory before it and never followed."""
    at = os.open(b".", _OPEN_DIRECTORY, dir_fd=start)
    for name in names:
        try:
            below = _step(at, name)
        finally:
            os.close(at)
        at = below
    return at


def _step(at: int, name: bytes) -> int:
    below = open_as_it_is(at, name)
    mode = os.fstat(below).st_mode
    if stat.S_ISDIR(mode):
        return below
    os.close(below)
    code = errno.ELOOP if stat.S_ISLNK(mode) else errno.ENOTDIR
    raise OSError(code, os.strerror(code))


def open_as_it_is(at: int, name: bytes) -> int:
    """Get hold of a name in a directory without following or opening what it is (O_PATH)."""
    return os.open(name, _OPEN_AS_IT_IS, dir_fd=at)


@cache
def best() -> Descend:
    """Choose the way that this system has: openat2 may be too new, or filtered away."""
    try:
        os.close(open_directory(by_openat2, ()))
    except OSError:
        return by_steps
    return by_openat2


def open_directory(descend: Descend, names: Names) -> int:
    """Open an absolute directory by its real names: a link that has come in between fails."""
    top = os.open(b"/", _OPEN_DIRECTORY)
    try:
        return descend(top, names)
    finally:
        os.close(top)


def open_folder(path: str | Path) -> int:
    """Open a folder by its absolute path, through no link. Raises OSError."""
    names = tuple(name for name in os.fsencode(path).split(b"/") if name)
    return open_directory(best(), names)


def is_procfs(descriptor: int) -> bool:
    """Tell whether an open file is the kernel's view of processes, whatever its path."""
    room = ctypes.create_string_buffer(_ROOM_FOR_STATFS)
    if _libc().fstatfs(descriptor, room) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return ctypes.c_long.from_buffer(room).value == _PROC_SUPER_MAGIC
