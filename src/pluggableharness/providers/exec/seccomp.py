"""The filter of system calls for sandboxed commands (C14), assembled by hand: data and 60 lines.

It takes away what leads out of namespaces and Landlock: sockets of other families than the
network's (those of docker, D-Bus and ours are found by path), io_uring, which would open them
unseen, new namespaces and mounts, the keyring, and what only an administrator needs. A library
for this would be one more thing to trust for a program of this size.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

AF_INET, AF_INET6, AF_NETLINK = 2, 10, 16
NETWORK: Final = (AF_INET, AF_INET6, AF_NETLINK)
"""Families that a command may use where it has a network, if only one of its own."""

SOCK_STREAM, SOCK_SEQPACKET = 1, 5
_SOCKET_TYPE_BITS: Final = 0xF
_NEW_NAMESPACES: Final = 0x7E02_0000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_NEW_TIME: Final = 0x80
"""CLONE_NEWTIME; where `clone` has the number of a signal."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""They type into a terminal."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor's name for itself in the filter's data, and its numbers of the calls."""

    audit: int
    refused: tuple[int, ...]
    socket: int
    socketpair: int
    clone: int
    unshare: int
    ioctl: int
    foreign_from: int | None = None
    """From this number on calls belong to another convention, which would pass by the rest."""


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(map(int, words.split()))


# Since Linux 5.1 new calls have one number everywhere.
_REFUSED_EVERYWHERE: Final = (428, 429, 430, 431, 432, 433, 442, 443, 467)
"""open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, quotactl_fd,
open_tree_attr."""
_UNKNOWN_EVERYWHERE: Final = (425, 426, 427, 435)
"""io_uring_setup, _enter and _register, and clone3, whose flags a filter cannot see: programs
do without when they are told that there is no such call."""

MACHINES: Final[Mapping[str, Machine]] = {
    "x86_64": Machine(
        audit=0xC000_003E,
        # mount, umount2, pivot_root, chroot, setns, bpf, perf_event_open, userfaultfd,
        # kexec_load, kexec_file_load, init_module, finit_module, delete_module, reboot, swapon,
        # swapoff, settimeofday, clock_settime, acct, quotactl, add_key, request_key, keyctl,
        # open_by_handle_at, syslog, iopl, ioperm, sethostname, setdomainname, vhangup
        refused=_numbers(
            "165 166 155 161 308 321 298 323 246 320 175 313 176 169 167 "
            "168 164 227 163 179 248 249 250 304 103 172 173 170 171 153"
        ),
        socket=41,
        socketpair=53,
        clone=56,
        unshare=272,
        ioctl=16,
        foreign_from=0x4000_0000,
    ),
    "aarch64": Machine(
        audit=0xC000_00B7,
        # The same in the same order, but for iopl and ioperm, which are the other's alone.
        refused=_numbers(
            "40 39 41 51 268 280 241 282 104 294 105 273 106 142 224 "
            "225 170 112 89 60 217 218 219 265 116 161 162 58"
        ),
        socket=198,
        socketpair=199,
        clone=220,
        unshare=97,
        ioctl=29,
    ),
}

_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _AUDIT = 0, 4
_ALLOWED: Final = 0x7FFF_0000
_FAILED: Final = 0x0005_0000


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction; `then` and `otherwise` are how many to skip."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.then, self.otherwise, self.value)


_REFUSE: Final = _Step(_RETURN, _FAILED | errno.EPERM)
_UNKNOWN: Final = _Step(_RETURN, _FAILED | errno.ENOSYS)
_ALLOW: Final = _Step(_RETURN, _ALLOWED)


def machine() -> Machine | None:
    """Return the machine that this is, if there is a filter for it."""
    return MACHINES.get(platform.machine())


@cache
def assembled(here: Machine, families: tuple[int, ...]) -> bytes:
    """Return the filter program: what `families` does not name has no sockets."""
    return b"".join(step.packed() for step in _steps(here, families))


def _steps(here: Machine, families: tuple[int, ...]) -> Iterator[_Step]:
    yield _Step(_LOAD, _AUDIT)
    yield from (_Step(_EQUAL, here.audit, then=1), _REFUSE)
    yield _Step(_LOAD, _NUMBER)
    if here.foreign_from:
        yield from (_Step(_AT_LEAST, here.foreign_from, otherwise=1), _UNKNOWN)
    for number in (*here.refused, *_REFUSED_EVERYWHERE):
        yield from _for_call(number, _REFUSE)
    for number in _UNKNOWN_EVERYWHERE:
        yield from _for_call(number, _UNKNOWN)
    yield from _for_call(here.socket, *_only(families, _argument(0)))
    # Datagrams of a pair could be sent anywhere by path; streams are connected for good.
    kind = (_argument(1), _Step(_AND, _SOCKET_TYPE_BITS))
    yield from _for_call(here.socketpair, *_only((SOCK_STREAM, SOCK_SEQPACKET), *kind))
    yield from _for_call(here.clone, *_without(_NEW_NAMESPACES))
    yield from _for_call(here.unshare, *_without(_NEW_NAMESPACES | _NEW_TIME))
    yield from _for_call(here.ioctl, _argument(1), *_none_of((TIOCSTI, TIOCLINUX)))
    yield _ALLOW


def _for_call(number: int, *steps: _Step) -> Iterator[_Step]:
    """Take these steps, the last of which returns, if the call is this one."""
    yield _Step(_EQUAL, number, otherwise=len(steps))
    yield from steps


def _argument(index: int) -> _Step:
    """Load the lower half of an argument, which is all that these calls look at."""
    return _Step(_LOAD, 16 + 8 * index)


def _only(values: tuple[int, ...], *load: _Step) -> Iterator[_Step]:
    yield from load
    for value in values:
        yield from (_Step(_EQUAL, value, otherwise=1), _ALLOW)
    yield _REFUSE


def _none_of(values: tuple[int, ...]) -> Iterator[_Step]:
    for value in values:
        yield from (_Step(_EQUAL, value, otherwise=1), _REFUSE)
    yield _ALLOW


def _without(bits: int) -> Iterator[_Step]:
    yield _argument(0)
    yield from (_Step(_ANY_BIT, bits, otherwise=1), _REFUSE)
    yield _ALLOW
