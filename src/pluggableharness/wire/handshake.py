"""The facts of the plugin handshake, as hashicorp/go-plugin's gRPC protocol lays them down.

Owns the names and numbers that host and plugin must agree on before the first RPC, and the
one line that a plugin prints. Knows nothing of processes, sockets or gRPC: both sides build
on it, and everything here is pure and costs next to nothing to import.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CORE_PROTOCOL_VERSION: Final = 1
"""Version of go-plugin's own protocol: the form of the line and the three services beside ours."""

APP_PROTOCOL_VERSION: Final = 1
"""Version of the contract in `pluggableharness.*.v1`."""

PROTOCOL: Final = "grpc"
"""The only transport spoken here; go-plugin's other one is `netrpc`."""

GUARDED_VARIABLE: Final = "PLUGGABLEHARNESS_GUARDED"
"""Names files that the host starts or believes, as a list of absolute paths in JSON (C14)."""

COOKIE_VARIABLE: Final = "PLUGGABLEHARNESS_AGENT_PLUGIN"
COOKIE_VALUE: Final = "pluggableharness-agent-v1-a6f3c9d2-plugin-handshake"
"""Not a secret: it tells a plugin that a host started it and not a person at a prompt."""

VERSIONS_VARIABLE: Final = "PLUGIN_PROTOCOL_VERSIONS"
"""Application versions that the host speaks, separated by commas."""

MIN_PORT_VARIABLE: Final = "PLUGIN_MIN_PORT"
MAX_PORT_VARIABLE: Final = "PLUGIN_MAX_PORT"
SOCKET_DIR_VARIABLE: Final = "PLUGIN_UNIX_SOCKET_DIR"
"""Where the plugin puts its sockets; the host makes a private directory for each launch."""

CLIENT_CERTIFICATE_VARIABLE: Final = "PLUGIN_CLIENT_CERT"
"""The host's certificate in PEM. Present means that the host asks for mutual TLS."""

MIN_PORT: Final = 10_000
MAX_PORT: Final = 25_000
"""go-plugin's own default range, for plugins that cannot listen on a unix socket."""

CALLBACK_SERVICE_ID: Final = 1
"""The broker id under which the kernel serves `KernelCallbackService` to every plugin."""

HEALTH_SERVICE: Final = "plugin"
"""The service name that a plugin's health server reports as SERVING."""

CALL_ID_METADATA: Final = "pluggableharness-call-id"
"""Metadata key by which a callback tells the tool call that it belongs to."""

INHERITED_VARIABLES: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""All that a plugin gets of the kernel's own environment, each only where it is set."""

MAX_LINE_BYTES: Final = 16_384
"""Far above a path with a certificate. A host stops reading a first line at this length."""

_SHOWN = 120
_PORTS = range(1, 65_536)


class HandshakeError(Exception):
    """The line says why host and plugin cannot talk; the message says what to do about it."""


class Network(StrEnum):
    """What kind of address a plugin listens on."""

    UNIX = "unix"
    TCP = "tcp"


@dataclass(frozen=True, slots=True)
class Handshake:
    """What the one line tells, versions and transport aside: those have one legal value."""

    network: Network
    address: str
    """An absolute socket path, or `host:port`."""
    server_certificate: bytes | None = None
    """The plugin's certificate in DER; None when it serves without TLS."""

    @property
    def target(self) -> str:
        """The address in the form that a gRPC channel takes."""
        return f"unix:{self.address}" if self.network is Network.UNIX else self.address


def format_handshake(handshake: Handshake) -> bytes:
    """Return the line, newline included, that a plugin writes to its real stdout first.

    Raises:
        HandshakeError: the address cannot stand in such a line.
    """
    _check_address(handshake.network, handshake.address)
    certificate = base64.b64encode(handshake.server_certificate or b"").decode().rstrip("=")
    fields = (
        str(CORE_PROTOCOL_VERSION),
        str(APP_PROTOCOL_VERSION),
        handshake.network.value,
        handshake.address,
        PROTOCOL,
        certificate,
    )
    return ("|".join(fields) + "\n").encode()


def parse_handshake(line: bytes) -> Handshake:
    """Read a plugin's first line, with or without its line end.

    Raises:
        HandshakeError: it is not such a line, or speaks of a version or transport that is
            not ours. The message names the cause and what its reader can do.
    """
    fields = _split(line)
    _check_version("core protocol", fields[0], CORE_PROTOCOL_VERSION, "go-plugin")
    if len(fields) < 4:
        raise HandshakeError(
            f"the plugin's handshake has {len(fields)} fields, expected 6 "
            f"(CORE|APP|NETWORK|ADDRESS|grpc|CERTIFICATE): {_shown(line)}"
        )
    _check_version("application protocol", fields[1], APP_PROTOCOL_VERSION, "plugin SDK")
    # go-plugin reads a line without the fifth field as net/rpc, and so must we.
    transport = fields[4] if len(fields) > 4 else "netrpc"
    if transport != PROTOCOL:
        raise HandshakeError(
            f"the plugin speaks {_shown(transport)}, this host speaks only gRPC: "
            "serve it with go-plugin's GRPCServer (or any gRPC server)"
        )
    # With multiplexing offered, go-plugin appends whether it can. We never ask, so either will do.
    if fields[6:] not in ([], ["true"], ["false"]):
        raise HandshakeError(f"the plugin's handshake has fields too many: {_shown(line)}")
    network = _network(fields[2])
    _check_address(network, fields[3])
    return Handshake(network, fields[3], _certificate(fields[5] if len(fields) > 5 else ""))


def started_by_host(environment: Mapping[str, str]) -> bool:
    """Tell whether a host, and not a person, started this process: whether the cookie is there."""
    return environment.get(COOKIE_VARIABLE) == COOKIE_VALUE


def plugin_environment(
    host: Mapping[str, str], socket_dir: str, named: Mapping[str, str]
) -> dict[str, str]:
    """Return the whole environment of a plugin: an allowlist of the host's, and no more (P31).

    `socket_dir` is a directory of this launch alone; `named` holds what the configuration
    gives this plugin, and beats what is inherited but not the handshake's own variables.
    """
    inherited = {name: host[name] for name in INHERITED_VARIABLES if name in host}
    own = {
        COOKIE_VARIABLE: COOKIE_VALUE,
        VERSIONS_VARIABLE: str(APP_PROTOCOL_VERSION),
        MIN_PORT_VARIABLE: str(MIN_PORT),
        MAX_PORT_VARIABLE: str(MAX_PORT),
        SOCKET_DIR_VARIABLE: socket_dir,
    }
    return inherited | dict(named) | own


def _split(line: bytes) -> list[str]:
    if len(line) > MAX_LINE_BYTES:
        raise HandshakeError(
            f"the plugin's first line is longer than {MAX_LINE_BYTES} bytes, so it is no "
            f"handshake: {_shown(line)}; a plugin may print nothing to stdout before it"
        )
    try:
        fields = line.decode().strip().split("|")
    except UnicodeDecodeError:
        fields = []
    if len(fields) < 2 or not fields[0].isdecimal():
        raise HandshakeError(
            f"the plugin's first line is no handshake: {_shown(line)}; is this executable a "
            "plugin, and does it print anything to stdout before the handshake?"
        )
    return fields


def _check_version(what: str, theirs: str, ours: int, made_with: str) -> None:
    if theirs != str(ours):
        raise HandshakeError(
            f"the plugin speaks {what} {_shown(theirs)}, this host speaks {ours}: "
            f"build the plugin with a {made_with} of that version"
        )


def _network(name: str) -> Network:
    try:
        return Network(name)
    except ValueError:
        raise HandshakeError(
            f"the plugin listens on network {_shown(name)}, expected unix or tcp"
        ) from None


def _check_address(network: Network, address: str) -> None:
    if network is Network.UNIX:
        # A relative path would mean another file in every process that reads it.
        fits, expected = address.startswith("/"), "an absolute path"
    else:
        host, _, port = address.rpartition(":")
        fits = bool(host) and port.isascii() and port.isdecimal() and int(port[:6]) in _PORTS
        expected = "host:port"
    if not fits or not address.isprintable() or "|" in address:
        raise HandshakeError(
            f"the plugin's {network} address is {_shown(address)}, expected {expected} "
            "of printable characters without '|'"
        )


def _certificate(text: str) -> bytes | None:
    if not text:
        return None
    try:
        # go-plugin writes base64 without padding and refuses it with; so do we.
        if "=" in text:
            raise binascii.Error("padded")
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise HandshakeError(
            f"the plugin's certificate is not base64 without padding ({error}): {_shown(text)}"
        ) from None


def _shown(text: str | bytes) -> str:
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return repr(shown[:_SHOWN].strip()) + ("…" if len(shown) > _SHOWN else "")
