"""Starts a provider process and reads its handshake; speaks no protocol beyond that line.

A failed start leaves nothing behind and is turned into a cause that can be acted on. gRPC is
not needed here, so that its import can happen while the process starts.
"""

import asyncio
import json
import os
import subprocess
import sys
from typing import Any, Final

from pluggableharness import guard
from pluggableharness.kernel.plugins.life import Life, told
from pluggableharness.kernel.plugins.output import FirstLine, PipeReader
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.private import PrivateDirectory, clear_abandoned
from pluggableharness.wire.handshake import (
    GUARDED_VARIABLE,
    Handshake,
    HandshakeError,
    Network,
    parse_handshake,
    plugin_environment,
)

HANDSHAKE_S: Final = 10.0
"""How long a process may take to its handshake, and to each answer before its first call (K15)."""

_KILL_GRACE_S: Final = 0.5
"""From TERM to KILL. Short, since a provider has been asked to stop in order before."""

_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")

_SECRET_LENGTH: Final = 8
"""Shorter values of the environment are flags and numbers, and stand everywhere."""


class StartFailed(Exception):
    """A process did not become a usable provider; the message is the cause."""


class Unreachable(StartFailed):
    """It does not answer: that its process has ended would be the better cause."""


class Launched:
    """A process that has said where it listens, and the place that it shares with us."""

    def __init__(self, life: Life, place: PrivateDirectory, stdout: PipeReader) -> None:
        self.life = life
        self._place = place
        self.handshake = Handshake(Network.UNIX, "/")
        self._stdout = stdout

    async def end(self, grace_s: float) -> None:
        """End the process, in order for so long and then by force, and remove the directory."""
        await self.life.end(grace_s)
        self._stdout.close()
        self._place.remove()


async def launch(
    spec: ProviderSpec, place: PrivateDirectory, timeout_s: float = HANDSHAKE_S
) -> Launched:
    """Start a provider and wait for its handshake (K15); the place is its own from here on.

    Raises:
        StartFailed: it cannot be executed, says nothing in time, or says something else. Then
            nothing of it is left.
    """
    first_line = FirstLine()
    launched = await _start(spec, place, first_line)
    try:
        # Here, where there is nothing to do but to wait.
        clear_abandoned()
        line = await _first_line(launched.life, first_line, timeout_s)
        launched.handshake = _checked(line)
    except BaseException:
        await launched.end(0)
        raise
    return launched


async def _start(spec: ProviderSpec, place: PrivateDirectory, first_line: FirstLine) -> Launched:
    try:
        process = await guard.start(
            spec.command,
            cwd=spec.directory,
            env=plugin_environment(os.environ, place.path, _named(spec)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            grace_s=_KILL_GRACE_S,
        )
    except BaseException as error:
        place.remove()
        if isinstance(error, OSError):
            hint = ": is it executable? chmod +x" if isinstance(error, PermissionError) else ""
            why = f"{error.strerror}: {error.filename}{hint}"
            raise StartFailed(f"cannot be started: {why}") from error
        if isinstance(error, (ValueError, guard.GuardLost)):
            raise StartFailed(f"cannot be started: {error}") from error
        raise
    secrets = tuple(x for x in spec.environment.values() if len(x) >= _SECRET_LENGTH)
    assert process.stdout is not None
    stdout = PipeReader(process.stdout, first_line.add)
    return Launched(Life(spec.name, process, secrets), place, stdout)


def _named(spec: ProviderSpec) -> dict[str, str]:
    guarded = {GUARDED_VARIABLE: json.dumps(spec.guarded)} if spec.guarded else {}
    return {**spec.environment, **guarded}


async def _first_line(life: Life, first_line: FirstLine, timeout_s: float) -> bytes:
    arrived = first_line.arrived
    either: list[asyncio.Future[Any]] = [arrived, life.death]
    await asyncio.wait(either, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    # An exit closes stdout as well, and the exit is the better cause to tell.
    if not arrived.done() or not arrived.result():
        if await life.died(0.5 if arrived.done() else 0):
            words = f"it {life.words()}\nwithout having said its handshake line"
            raise StartFailed(words + _missing_package(life.stderr.lines(life.secrets)))
        raise StartFailed(_silence(first_line, timeout_s) + told(life.stderr.lines(life.secrets)))
    return arrived.result()


def _missing_package(stderr: list[str]) -> str:
    if not any("No module named 'pluggableharness'" in line for line in stderr):
        return ""
    return (
        "\nThe Python that ran it has no package pluggableharness: run it with one that has, "
        f"such as {sys.executable}, or install the package there"
    )


def _silence(first_line: FirstLine, timeout_s: float) -> str:
    if first_line.arrived.done():
        return "it closed its stdout without having said its handshake line"
    begun = f" but {first_line.so_far[:80]!r}" if first_line.so_far else ""
    return f"it said no handshake line within {timeout_s:g} s{begun}; is it a plugin?"


def _checked(line: bytes) -> Handshake:
    try:
        handshake = parse_handshake(line)
    except HandshakeError as error:
        raise StartFailed(str(error)) from error
    if handshake.server_certificate is not None:
        raise StartFailed("it insists on TLS, which this host does not ask for: turn that off")
    host = handshake.address.rpartition(":")[0]
    if handshake.network is Network.TCP and host not in _LOCAL:
        raise StartFailed(f"it listens on {handshake.address}; only this machine is allowed")
    return handshake
