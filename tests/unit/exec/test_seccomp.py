"""The filter of system calls, run by a reader of its own instruction set."""

import errno
import struct

import pytest

from pluggableharness.providers.exec.seccomp import (
    AF_INET,
    AF_NETLINK,
    MACHINES,
    NETWORK,
    TIOCSTI,
    Machine,
    assembled,
)

pytestmark = pytest.mark.req("C14")

ALLOW, REFUSED, UNKNOWN = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
AF_UNIX, AF_VSOCK = 1, 40
STREAM, DATAGRAM, RAW, CLOEXEC = 1, 2, 3, 0o2000000


def verdict(program: bytes, here: Machine, number: int, *arguments: int) -> int:
    """What the system would make of a call: classic BPF over struct seccomp_data."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, here.audit, 0, *padded)
    steps = list(struct.iter_unpack("=HBBI", program))
    loaded, at = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (loaded,) = struct.unpack_from("=I", data, value)
            case 0x54:
                loaded &= value
            case 0x06:
                return int(value)
            case 0x15:
                at += then if loaded == value else otherwise
            case 0x35:
                at += then if loaded >= value else otherwise
            case 0x45:
                at += then if loaded & value else otherwise
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


@pytest.fixture(params=MACHINES)
def here(request: pytest.FixtureRequest) -> Machine:
    return MACHINES[request.param]


def test_what_leads_out_is_refused_and_all_else_allowed(here: Machine) -> None:
    program = assembled(here, NETWORK)
    special = {here.socket, here.socketpair, here.clone, here.unshare, here.ioctl}
    unknown = {425, 426, 427, 435}
    refused = {*here.refused, *range(428, 434), 442, 443, 467} - {434}
    for number in set(range(500)) - special:
        expected = UNKNOWN if number in unknown else REFUSED if number in refused else ALLOW
        assert verdict(program, here, number) == expected, number


def test_only_sockets_of_the_network_are_made(here: Machine) -> None:
    program = assembled(here, NETWORK)
    for family in range(64):
        expected = ALLOW if family in NETWORK else REFUSED
        assert verdict(program, here, here.socket, family, STREAM) == expected
    nothing = assembled(here, ())
    for family in (AF_UNIX, AF_INET, AF_NETLINK, AF_VSOCK):
        assert verdict(nothing, here, here.socket, family, STREAM) == REFUSED


def test_pairs_are_streams_which_lead_nowhere_else(here: Machine) -> None:
    program = assembled(here, ())
    assert verdict(program, here, here.socketpair, AF_UNIX, STREAM | CLOEXEC) == ALLOW
    assert verdict(program, here, here.socketpair, AF_UNIX, 5) == ALLOW
    assert verdict(program, here, here.socketpair, AF_UNIX, DATAGRAM | CLOEXEC) == REFUSED
    assert verdict(program, here, here.socketpair, AF_UNIX, RAW) == REFUSED


@pytest.mark.parametrize("bit", [0x20000, *(1 << bit for bit in range(25, 31))])
def test_no_namespace_is_made(here: Machine, bit: int) -> None:
    program = assembled(here, NETWORK)
    assert verdict(program, here, here.clone, bit | 17) == REFUSED
    assert verdict(program, here, here.unshare, bit) == REFUSED


def test_threads_and_processes_are_made(here: Machine) -> None:
    program = assembled(here, NETWORK)
    assert verdict(program, here, here.clone, 17) == ALLOW
    assert verdict(program, here, here.clone, 0x3D0F00) == ALLOW
    assert verdict(program, here, here.clone, 0x01200011 & ~0x02000000) == ALLOW
    assert verdict(program, here, here.unshare, 0x200) == ALLOW
    assert verdict(program, here, here.unshare, 0x80) == REFUSED


def test_nothing_is_typed_into_a_terminal(here: Machine) -> None:
    program = assembled(here, NETWORK)
    assert verdict(program, here, here.ioctl, 0, TIOCSTI) == REFUSED
    assert verdict(program, here, here.ioctl, 0, TIOCSTI | 1 << 32) == REFUSED
    assert verdict(program, here, here.ioctl, 0, 0x5401) == ALLOW


def test_calls_of_another_convention_are_refused() -> None:
    x86_64, aarch64 = MACHINES["x86_64"], MACHINES["aarch64"]
    assert verdict(assembled(x86_64, NETWORK), aarch64, 0) == REFUSED
    assert verdict(assembled(aarch64, NETWORK), x86_64, 0) == REFUSED
    assert verdict(assembled(x86_64, NETWORK), x86_64, 0x4000_0000) == UNKNOWN


@pytest.mark.parametrize("families", [(), NETWORK])
def test_the_program_is_as_small_as_the_system_takes(here: Machine, families: tuple[int]) -> None:
    assert len(assembled(here, families)) // 8 < 200
