"""Landlock, by the system calls that Python has no function for (C1, C14).

Makes rulesets and takes them on; what is to be allowed in them, their users know.
"""

from __future__ import annotations

import ctypes
import os
import struct
from functools import cache
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ASKED: Final = 1
_PATH_BENEATH: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1, 2, 4, 8


@cache
def version() -> int:
    """Return the system's version of Landlock, 0 without: it came with Linux 5.13."""
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_ASKED))
    except OSError:
        return 0


def new_ruleset(*handled: int) -> int:
    """Return a new ruleset's descriptor, which refuses all that it handles and no rule allows.

    `handled` are accesses to files, then to the network, then scopes, as far as the version
    knows them. Raises OSError when the system makes none.
    """
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    size = ctypes.c_size_t(len(attributes))
    return _call(_CREATE_RULESET, attributes, size, ctypes.c_uint32(0))


def allow(ruleset: int, descriptor: int, access: int) -> None:
    """Allow accesses to an open file, or beneath an open folder; O_PATH will do."""
    rule = struct.pack("=Qi", access, descriptor)
    _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))


def take_on(ruleset: int) -> None:
    """Restrict this thread, and with it what it starts, for good."""
    if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise _system_error()
    _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _system_error()
    return result


def _system_error() -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
