"""The temporary directory that the sandboxed commands of one provider process share (C14).

Commands of one session find each other's temporary files and nobody else's. It goes with the
process; what a killed one left is cleared by the next.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

PREFIX: Final = "harness-exec-"
_LOCK: Final = "lock"
FILES: Final = "files"


@cache
def private_directory() -> Path:
    """Return this process's own directory; made when it is first asked for.

    Raises:
        OSError: it cannot be made.
    """
    _clear_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    # Held, and so locked, until the process ends, however it does. Commands do not see it: they
    # get the folder beside it.
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = folder / FILES
    files.mkdir(0o700)
    return files


def _clear_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # somebody else's, or just being made
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
