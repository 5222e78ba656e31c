"""The sandbox of systems that let nobody have a namespace: Landlock, with the filter (C14).

Makes the rules for what a command may open. They are taken on in the guard's fork, between
guard and command, so that the guard itself is out of the command's reach.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pluggableharness.sdk.landlock import (
    EXECUTE,
    READ_FILE,
    READ_FOLDER,
    WRITE_FILE,
    allow,
    new_ruleset,
    version,
)

MAKE_CHARACTER_DEVICE, MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_TRUNCATE: Final = 1 << 14
_ON_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | 1 << 15
TCP: Final = 3
_SIGNALS_AND_ABSTRACT_SOCKETS: Final = 3
READ: Final = EXECUTE | READ_FILE | READ_FOLDER

OLDEST: Final = 3
"""The first version that sees truncation, without which files outside could be emptied."""

_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")


def rules(
    writable: Iterable[Path], readable: Iterable[Path] | None = None, *, network: bool
) -> int:
    """Return a new ruleset's descriptor: without `readable`, all is but /proc's processes.

    Raises:
        OSError: the system makes none.
    """
    known = version()
    handled = _accesses(known)
    ruleset = new_ruleset(*_handled(known, network=network))
    try:
        for path in _readable() if readable is None else readable:
            _allow(ruleset, path, READ & handled)
        for name in _DEVICES:
            _allow(ruleset, Path("/dev", name), (READ_FILE | WRITE_FILE) & handled)
        devices = MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE
        for path in writable:
            _allow(ruleset, path, handled & ~devices)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def _accesses(known: int) -> int:
    """Return all accesses to files that this version can refuse."""
    bits = 13 + (known >= 2) + (known >= 3) + (known >= 5)
    return (1 << bits) - 1


def _handled(known: int, *, network: bool) -> Iterator[int]:
    """Give what this version is to refuse: accesses to files, to the network, and scopes."""
    yield _accesses(known)
    if known >= 4:
        yield 0 if network else TCP
    if known >= 6:
        yield _SIGNALS_AND_ABSTRACT_SOCKETS


def _readable() -> Iterable[Path]:
    """Give what may be read. A rule for / would take in the processes of everyone."""
    yield from (path for path in Path("/").iterdir() if path.name != "proc")
    for path in Path("/proc").iterdir():
        if not path.name.isdigit() and not path.is_symlink() and path.name != "kcore":
            yield path


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not path.is_dir():
            access &= _ON_FILES
        allow(ruleset, descriptor, access)
    finally:
        os.close(descriptor)
