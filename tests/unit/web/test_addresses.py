"""Which addresses may be reached, in every spelling that an address has."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.providers.web.addresses import forbidden

pytestmark = pytest.mark.req("C16")

INTERNAL = (
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.0.9",
    "169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.192",
    "192.168.1.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
)  # fmt: skip


@pytest.mark.parametrize("address", INTERNAL)
def test_an_internal_ipv4_address_is_forbidden_by_itself_and_inside_ipv6(address: str) -> None:
    """Facts: several of these count as global for the standard library when embedded."""
    number = int(ipaddress.IPv4Address(address))
    groups = f"{number >> 16:x}:{number & 0xFFFF:x}"
    assert forbidden(address)
    for wrapped in (
        f"::ffff:{address}",  # mapped
        f"::{groups}",  # compatible
        f"::ffff:0:{groups}",  # translated
        f"64:ff9b::{groups}",  # NAT64
        f"64:ff9b:1::{groups}",  # NAT64, local
        f"2002:{groups}::",  # 6to4
        f"2001:0:4136:e378:8000:63bf:{number >> 16 ^ 0xFFFF:x}:{number & 0xFFFF ^ 0xFFFF:x}",
        f"2a00:1450:4001::5efe:{groups}",  # ISATAP
        f"2a00:1450:4001:0:200:5efe:{groups}",
    ):
        assert forbidden(wrapped), wrapped


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("2606:4700::1%1", "link-local"),
        ("fc00::1", "private"),
        ("fd00:ec2::254", "private"),
        ("fec0::1", "private"),
        ("ff02::1", "multicast"),
        ("100::1", "reserved"),
        ("2001:db8::1", "reserved"),
        ("4000::1", "reserved"),
        ("224.0.0.1", "multicast"),
        ("127.0.0.1", "loopback"),
        ("169.254.169.254", "link-local"),
        ("168.63.129.16", "metadata"),
    ],
)
def test_the_reason_names_the_kind(address: str, reason: str) -> None:
    assert forbidden(address) == reason


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8",
     "64:ff9b::808:808", "2a00:1450:4001:81b::200e"],
)  # fmt: skip
def test_public_addresses_may_be_reached(address: str) -> None:
    assert forbidden(address) is None


@given(st.ip_addresses())
def test_what_the_standard_library_calls_internal_is_never_allowed(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    mapped = getattr(address, "ipv4_mapped", None) or address
    if (mapped.is_private and not mapped.is_global) or mapped.is_multicast or mapped.is_reserved:
        nat64 = ipaddress.ip_network("64:ff9b::/96")
        exempt = {ipaddress.ip_address("192.0.0.9"), ipaddress.ip_address("192.0.0.10")}
        assert forbidden(str(address)) or address in nat64 or address in exempt
