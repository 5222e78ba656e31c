"""Which addresses a request may go to (C16).

The one judge of that, and of addresses alone: a name is judged by what it resolves to, whatever
it looks like. The tables are written out, since what `ipaddress` calls global differs between
Python's versions and holds addresses that embed an internal one.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_V4: Final = tuple(
    (IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "private"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "metadata"),  # Azure's; all others lie in link-local or private space
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "private"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_V6: Final = tuple(
    (IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        # Tunnels: where a packet to them ends is up to a relay that nobody here knows.
        ("2001::/23", "reserved"),
        ("2002::/16", "reserved"),
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
    )
)
_GLOBAL: Final = IPv6Network("2000::/3")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
"""What a resolver of an IPv6-only network makes of public IPv4 addresses."""
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def forbidden(address: str) -> str | None:
    """Why nothing may be sent to an address: a word such as "loopback", or None where it may."""
    parsed = ip_address(address)
    return _forbidden_v4(parsed) if isinstance(parsed, IPv4Address) else _forbidden_v6(parsed)


def _forbidden_v4(address: IPv4Address) -> str | None:
    return next((reason for network, reason in _V4 if address in network), None)


def _forbidden_v6(address: IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "link-local"
    for network, reason in _V6:
        if address in network:
            return reason
    embedded = IPv4Address(int(address) & 0xFFFF_FFFF)
    if address in _MAPPED or address in _NAT64:
        return _forbidden_v4(embedded)
    if address not in _GLOBAL:
        return "reserved"
    is_tunnel = (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
    return _forbidden_v4(embedded) if is_tunnel else None
