"""Starting a program that can open nothing but what is beneath some folders (C1).

ripgrep walks by names, and a folder that it has just listed may be a link by the time it goes
in. No check before or after can rule that out; Landlock can: the system itself refuses whatever
is not beneath the folders, wherever a link leads. The restriction is that of a thread and of
what it starts, so it is taken on by a thread that starts the program and is gone.
"""

import ctypes
import os
import struct
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ASKED: Final = 1
_PATH_BENEATH: Final = 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_EVERYTHING: Final = (1 << 13) - 1
"""The accesses that the first version of Landlock knows; each of them needs a rule."""

_PR_SET_NO_NEW_PRIVS: Final = 38


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _system_error()
    return result


def _system_error() -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))


@cache
def can_confine() -> bool:
    """Tell whether this system has Landlock: Linux 5.13, unless it is switched off."""
    nothing, size = None, ctypes.c_size_t(0)
    try:
        return _call(_CREATE_RULESET, nothing, size, ctypes.c_uint32(_VERSION_ASKED)) >= 1
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Reach:
    """What a program may open: descriptors of folders and files, O_PATH will do."""

    readable: Sequence[int]
    executable: Sequence[int]
    """The program itself and what loads it; they can be read as well."""


@dataclass(slots=True)
class _Start:
    """What one thread does, and how it ended."""

    argv: Sequence[str | bytes]
    folder: int
    reach: Reach
    streams: dict[str, int]
    process: subprocess.Popen[bytes] | None = None
    failure: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        try:
            if can_confine():
                _confine(self.reach)
            # The child goes there by its own copy of the descriptor: no name can lead astray.
            folder = f"/proc/self/fd/{self.folder}"
            self.process = subprocess.Popen(self.argv, cwd=folder, env={}, **self.streams)  # type: ignore[call-overload]
        except BaseException as error:
            self.failure.append(error)


def start(
    argv: Sequence[str | bytes], *, folder: int, reach: Reach, streams: dict[str, int]
) -> subprocess.Popen[bytes]:
    """Start a program in an open folder, with an empty environment and within `reach`.

    `streams` are descriptors for stdin, stdout and stderr. Where the system cannot confine, the
    program is not; ask `can_confine`. Raises OSError as Popen does.
    """
    starting = _Start(argv, folder, reach, streams)
    # The loop waits for it: that takes what a Popen on the loop would take, half a millisecond.
    thread = threading.Thread(target=starting.run, name="start-confined")
    thread.start()
    thread.join()
    if starting.process is None:
        raise starting.failure[0]
    return starting.process


def _confine(reach: Reach) -> None:
    """Restrict this thread, and with it what it starts, for good."""
    wanted = struct.pack("=Q", _EVERYTHING)
    rules = _call(_CREATE_RULESET, wanted, ctypes.c_size_t(len(wanted)), ctypes.c_uint32(0))
    try:
        for descriptor in reach.readable:
            _allow(rules, descriptor, _READ_FILE | _READ_FOLDER)
        for descriptor in reach.executable:
            _allow(rules, descriptor, _READ_FILE | _EXECUTE)
        if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise _system_error()
        _call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow(rules: int, descriptor: int, access: int) -> None:
    rule = struct.pack("=Qi", access, descriptor)
    _call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
