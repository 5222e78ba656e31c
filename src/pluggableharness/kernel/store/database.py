"""That what lies where a log is expected is a regular file, told before anybody opens it.

A pipe makes an ordinary open wait for ever, a device may never end. SQLite opens by name, so
here the name is asked, by a descriptor that neither waits nor, once closed, drops SQLite's locks.
"""

import os
from pathlib import Path

from pluggableharness.kernel.regular import kind
from pluggableharness.kernel.store.errors import LogUnreadable

_BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite opens, or looks into, when it opens a database."""


def check_database(log: Path) -> None:
    """See that a log, and what SQLite keeps beside it, are regular files or links to such.

    Raises LogUnreadable when one is anything else, or there is no log.
    """
    for end in _BESIDE:
        path = log.with_name(log.name + end)
        try:
            strange = _strange(path)
        except FileNotFoundError:
            if not end:
                raise LogUnreadable(log, "there is no such log") from None
        except OSError as error:
            raise LogUnreadable(log, f"{path.name} cannot be read ({error.strerror})") from error
        else:
            if strange:
                raise LogUnreadable(log, f"{path.name} is {strange} and no file. Remove it")


def _strange(path: Path) -> str:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return kind(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
