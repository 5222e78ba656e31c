"""go-plugin's automatic mutual TLS, for hosts that ask for it.

The host's certificate uses a curve that gRPC's own TLS cannot verify, so the standard
library's does it, in a relay on either way between the host and gRPC's plain sockets. Those
stand in a directory that nobody else may enter. Our own host does not ask for this: it keeps
its sockets in such a directory itself, which costs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import shutil
import ssl
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_HOST: Final = "localhost"
"""What either side's certificate is made out to."""

_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_CHUNK_BYTES: Final = 256 * 1024
_CLOCK_SKEW: Final = datetime.timedelta(seconds=30)
_LIFETIME: Final = datetime.timedelta(days=10_950)
"""go-plugin's own: a process must not outlive its certificate, which nobody else ever sees."""


class BadCertificate(Exception):
    """What the host passed is no certificate."""


@dataclass(frozen=True, slots=True)
class MutualTls:
    """Both sides of the trust between one host and this process.

    `certificate` is our own in DER, for the handshake line.
    """

    certificate: bytes
    server: ssl.SSLContext
    client: ssl.SSLContext


def mutual_tls(host_certificate: str) -> MutualTls:
    """Make a certificate for this process, and trust the host's alone, which is PEM.

    Raises:
        BadCertificate: it cannot be read as one.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    own = _certificate(key)
    pem = own.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return MutualTls(
        own.public_bytes(serialization.Encoding.DER),
        _context(ssl.PROTOCOL_TLS_SERVER, pem, host_certificate),
        _context(ssl.PROTOCOL_TLS_CLIENT, pem, host_certificate),
    )


def _certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _HOST)])
    now = datetime.datetime.now(datetime.UTC)
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    return (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(_HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .sign(key, hashes.SHA256())
    )


def _context(side: int, own: bytes, trusted: str) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    # gRPC in Go refuses a peer that does not negotiate HTTP/2 by name.
    context.set_alpn_protocols(["h2"])
    try:
        context.load_verify_locations(cadata=trusted)
    except (ssl.SSLError, ValueError) as error:
        raise BadCertificate(str(error)) from error
    _load(context, own)
    return context


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """The library reads keys from files alone; this one is memory that never has a name."""
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")


class Relay:
    """Stands at the sockets that the host sees, and passes everything on in both directions."""

    def __init__(self, tls: MutualTls, beside: str) -> None:
        """`beside` is the directory of the sockets that the host sees."""
        self.certificate = tls.certificate
        self._tls = tls
        self._directory = tempfile.mkdtemp(prefix="tls-", dir=beside)
        self.plain = f"{self._directory}/p"
        """Where our gRPC server is to listen."""
        self._callbacks = f"{self._directory}/k"
        self._kernel = ("", "")
        self._servers: list[asyncio.Server] = []
        self._passing: set[asyncio.Task[None]] = set()

    async def start(self, path: str) -> None:
        """Listen for the host at `path`, and for our own callbacks."""
        self._servers = [
            await asyncio.start_unix_server(self._to_us, path, ssl=self._tls.server),
            await asyncio.start_unix_server(self._to_kernel, self._callbacks),
        ]

    def reach(self, network: str, address: str) -> str:
        """Take where the host serves the callbacks; return where we reach it from now on."""
        self._kernel = (network, address)
        return f"unix:{self._callbacks}"

    async def close(self) -> None:
        """Stop passing on, and remove what was plain."""
        for server in self._servers:
            server.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)
        shutil.rmtree(self._directory, ignore_errors=True)

    async def _to_us(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._join((reader, writer), asyncio.open_unix_connection(self.plain))

    async def _to_kernel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        network, address = self._kernel
        tls = self._tls.client
        if network == "unix":
            far = asyncio.open_unix_connection(address, ssl=tls, server_hostname=_HOST)
        else:
            host, _, port = address.rpartition(":")
            far = asyncio.open_connection(host, int(port), ssl=tls, server_hostname=_HOST)
        await self._join((reader, writer), far)

    async def _join(self, near: _Stream, connecting: Coroutine[Any, Any, _Stream]) -> None:
        """Pass everything on between two connections until either ends."""
        try:
            far = await connecting
        except OSError:
            # gRPC, which waits at our end of it, says what it could not reach and for what.
            near[1].close()
            return
        ways = [
            asyncio.create_task(_copy(near[0], far[1])),
            asyncio.create_task(_copy(far[0], near[1])),
        ]
        self._passing.update(ways)
        try:
            # HTTP/2 ends both ways at once: what one side no longer reads need not be sent.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            self._passing.difference_update(ways)
            far[1].close()
            near[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
