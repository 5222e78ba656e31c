"""From a target to an open connection: resolved once, every address checked, connected as such.

Knows nothing of HTTP. No proxy and no variable of the environment has a say in where a
connection goes; only which authorities are trusted follows the system.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pluggableharness.providers.web.addresses import forbidden
from pluggableharness.providers.web.targets import Target
from pluggableharness.sdk import ExecutionFailed, PermissionDenied

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host and a port to addresses, the preferred one first; raises OSError."""
Dial = Callable[[str, int], Awaitable[socket.socket]]
"""From an address and a port to a connected socket; raises OSError."""

_IMPATIENT_S: Final = 3.0
"""How long one address is tried while another is left: broken IPv6 does not answer at all."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: for connecting, for a wait in between, and for everything together."""

    connect_s: float = 10.0
    read_s: float = 20.0
    total_s: float = 45.0


async def system_addresses(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


@cache
def system_trust() -> ssl.SSLContext:
    """Verify certificates as the system does; by a list that comes along where it has none."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and os.listdir(paths.capath)):
        return ssl.create_default_context()
    # Needed only where the system has no list.
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


async def system_dial(address: str, port: int) -> socket.socket:
    """Connect to an address, which nothing resolves again."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        await asyncio.get_running_loop().sock_connect(connection, (address, port))
    except BaseException:
        connection.close()
        raise
    return connection


@dataclass(frozen=True, slots=True)
class Network:
    """How connections are made; tests bring their own resolver, wires, authority and limits."""

    resolve: Resolve = system_addresses
    dial: Dial = system_dial
    trust: Callable[[], ssl.SSLContext] = system_trust
    limits: Limits = Limits()

    async def addresses(self, target: Target, *, allow_private: bool) -> Sequence[str]:
        """Resolve a target's host, once, and check all that comes.

        Raises:
            PermissionDenied: one of the addresses may not be reached; then none is.
            ExecutionFailed: the name has no address.
        """
        try:
            found = await self.resolve(target.host, target.port)
        except OSError as error:
            raise _unresolved(target.host, error) from None
        if not found:
            raise _unresolved(target.host, None)
        if not allow_private:
            for address in found:
                _check(target.host, address)
        return found

    async def connect(
        self, target: Target, addresses: Sequence[str]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first of the addresses that answers, with the host's name for TLS.

        Raises:
            ExecutionFailed: none answers, or what answers is not trusted.
        """
        # Made before there is a socket to lose.
        context = self.trust() if target.scheme == "https" else None
        name = target.host if context is not None else None
        try:
            async with asyncio.timeout(self.limits.connect_s):
                connection = await self._first(addresses, target.port)
                return await asyncio.open_connection(
                    sock=connection, ssl=context, server_hostname=name
                )
        except TimeoutError:
            message = f"{target.host} did not answer within {self.limits.connect_s:g} s"
            raise ExecutionFailed(message, retryable=True) from None
        except ssl.SSLCertVerificationError as error:
            raise ExecutionFailed(
                f"TLS: the certificate of {target.host} is not trusted: {error.verify_message}"
            ) from None
        except ssl.SSLError as error:
            raise ExecutionFailed(f"TLS with {target.host} failed: {error.reason}") from None
        except OSError as error:
            # asyncio puts words of its own in place of the system's.
            what = os.strerror(error.errno) if error.errno else str(error)
            message = f"no connection to {target.host} port {target.port}: {what}"
            raise ExecutionFailed(message, retryable=True) from None

    async def _first(self, addresses: Sequence[str], port: int) -> socket.socket:
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(_IMPATIENT_S):
                    return await self.dial(address, port)
            except OSError:  # a time-out is one
                continue
        return await self.dial(addresses[-1], port)


def _check(host: str, address: str) -> None:
    reason = forbidden(address)
    if reason is not None:
        where = address if host == address else f"{host}, which is {address},"
        raise PermissionDenied(
            f"{where} is a private address ({reason}) and not reached from here; the person who "
            "configures this may set allow_private for provider web",
            details={"host": host, "address": address, "reason": reason},
        )


def _unresolved(host: str, error: OSError | None) -> ExecutionFailed:
    again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    said = f" ({error.strerror})" if error is not None and error.strerror else ""
    return ExecutionFailed(
        f"DNS: no address is known for {host}{said}; check the name", retryable=again
    )
