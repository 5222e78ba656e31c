"""A URL taken apart once, strictly; what is checked is what is connected to (C16).

Whatever two parsers could read in two ways is refused: credentials, backslashes, control
characters and blanks. Nothing of a refused URL is repeated beyond its host, as it may hold a
password.
"""

import re
import socket
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from pluggableharness.sdk import InvalidArguments
from pluggableharness.sdk.naming import quoted

LONGEST: Final = 8192
_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_AUTHORITY: Final = re.compile(r"(\[[^]]*\]|[^:\[\]]+)(?::([0-9]{0,5}))?")
_NUMBER: Final = r"(?:0x[0-9a-f]*|[0-9]+)"
_NUMBERS: Final = re.compile(rf"{_NUMBER}(?:\.{_NUMBER}){{0,3}}")
_SAFE: Final = "%/:@!$&'()*+,;=~[]"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `host` is ASCII, in lower case, without brackets or a last dot."""

    scheme: str
    host: str
    port: int
    path: str
    """Path and query, as they are sent."""

    @property
    def authority(self) -> str:
        """Host and port as the Host header and a URL have them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def is_address(self) -> bool:
        """Whether the host is an address and no name."""
        return ":" in self.host or _NUMBERS.fullmatch(self.host) is not None


def target_of(url: str) -> Target:
    """Take a URL apart.

    Raises:
        InvalidArguments: it is none, or can be read in more than one way.
    """
    if len(url) > LONGEST:
        raise InvalidArguments(f"the URL has {len(url)} characters; at most {LONGEST} are sent")
    if any(ord(one) <= 32 or 127 <= ord(one) <= 160 or one.isspace() for one in url):
        raise InvalidArguments("the URL holds blanks or control characters; write them as %20 etc.")
    if "\\" in url:
        raise InvalidArguments("the URL holds a backslash; write / or %5C")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidArguments(f"the URL cannot be read: {error}") from None
    if parts.scheme not in _PORTS:
        begins = f"starts with {quoted(parts.scheme)}" if parts.scheme else "has no scheme"
        raise InvalidArguments(f"the URL {begins}; expected http:// or https://")
    if "@" in parts.netloc:
        raise InvalidArguments("the URL holds a user or a password before @; leave them out")
    host, port = _host_and_port(parts.netloc)
    query = f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
    return Target(
        parts.scheme,
        canonical_host(host),
        _PORTS[parts.scheme] if port is None else port,
        (quote(parts.path, safe=_SAFE) or "/") + query,
    )


def redirected(base: Target, location: bytes) -> Target:
    """The target that a Location header leads to.

    Raises:
        InvalidArguments: as for any URL.
    """
    try:
        text = location.decode()
    except UnicodeDecodeError:
        text = location.decode("latin-1")
    # Servers do send blanks, and browsers escape them.
    return target_of(urljoin(base.url, text.strip(" ").replace(" ", "%20")))


def canonical_host(host: str) -> str:
    """The one spelling of a host: punycode for names, the usual form for addresses.

    Raises:
        InvalidArguments: it is neither a name nor an address.
    """
    if host.startswith("["):
        try:
            address = IPv6Address(host.removeprefix("[").removesuffix("]"))
            if address.scope_id is not None:
                raise AddressValueError
            return str(address)
        except AddressValueError:
            raise InvalidArguments(f"{quoted(host)} is no IPv6 address") from None
    name = _ascii(host).lower().removesuffix(".")
    if not _NAME.fullmatch(name):
        raise InvalidArguments(f"{quoted(host)} is no name of a host")
    if not _NUMBERS.fullmatch(name):
        return name
    try:
        # As every resolver reads it: 127.1, 0x7f000001 and 2130706433 are one address.
        return socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        raise InvalidArguments(f"{quoted(host)} is no IPv4 address") from None


def _host_and_port(netloc: str) -> tuple[str, int | None]:
    found = _AUTHORITY.fullmatch(netloc)
    if found is None:
        raise InvalidArguments(f"{quoted(netloc)} is no host with a port; ports are numbers")
    host, port = found.groups()
    if not port:
        return host, None
    if not 1 <= int(port) <= 65535:
        raise InvalidArguments(f"the URL's port is {port}; ports go from 1 to 65535")
    return host, int(port)


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    # 2 ms with its tables, and only names in other scripts need it.
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError as error:
        raise InvalidArguments(f"{quoted(host)} is no name of a host: {error}") from None
