"""Files that anybody may have put in their place: opened without ever waiting for what is there."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegular(OSError):
    """What is there is a pipe, a device, a folder: no file to be read."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "is no regular file", str(path))


def opened(path: str | Path, flags: int = 0) -> BinaryIO:
    """A regular file, to be read. Raises OSError, and NotRegular, which is one."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NotRegular(path)  # to open a device may already do something
    always = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = os.open(path, always | flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular(path)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def kind(mode: int) -> str:
    """What a mode is of, as words; "" for a regular file."""
    names = {
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFDIR: "a directory",
    }
    return "" if stat.S_ISREG(mode) else names.get(stat.S_IFMT(mode), "something else")
