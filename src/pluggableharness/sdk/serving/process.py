"""One plugin process, from its handshake line to its end.

Starts the server, says where it listens, and ends in order when the host asks or SIGTERM comes:
running calls are cancelled, their reports and the log are sent, and then it returns.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import gc
import os
import signal
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import grpc.aio

from pluggableharness.sdk.calling import Runner
from pluggableharness.sdk.failures import DeclarationError
from pluggableharness.sdk.serving.kernel_link import KernelLink, reach_directly
from pluggableharness.sdk.serving.messages import MAX_MESSAGE_BYTES
from pluggableharness.sdk.serving.printed import Printed
from pluggableharness.sdk.serving.services import PluginServices
from pluggableharness.sdk.serving.tools import ToolService
from pluggableharness.wire.handshake import (
    CLIENT_CERTIFICATE_VARIABLE,
    SOCKET_DIR_VARIABLE,
    Handshake,
    Network,
    format_handshake,
    started_by_host,
)

if TYPE_CHECKING:
    from pluggableharness.sdk.provider import Provider
    from pluggableharness.sdk.serving.mutual_tls import Relay

MAX_PENDING: Final = 100_000
"""Calls that may wait to be taken up. gRPC's own limit drops some of 1,000 at random (S15)."""
END_S: Final = 1.5
"""What an orderly end may take: the host kills after 2 s (K16)."""
MAX_SOCKET_PATH: Final = 107
_PR_SET_DUMPABLE: Final = 4


def serve(provider: Provider[Any]) -> NoReturn:
    """Serve until the host asks to stop, then end the process.

    Raises:
        SystemExit: no host started the process, or it asks for what is not there.
    """
    if not started_by_host(os.environ):
        try:
            provider.check()
        except DeclarationError as error:
            _refuse(str(error))
        _refuse(
            f"{provider.name} is a plugin of the agent harness, which starts it: not to be run by "
            f"hand. To try one of its operations:\n  {_example(provider)}"
        )
    _undumpable()
    # What is loaded by now lives as long as the process: no collection need look at it again.
    gc.freeze()
    asyncio.new_event_loop().run_until_complete(_serve(provider))
    _leave()


async def _serve(provider: Provider[Any]) -> None:
    end = asyncio.Event()
    _end_by_signal(end)
    printed = Printed()
    line_to = printed.take_stdout()
    path = _socket_path(os.environ)
    relay = _relay(provider.name, path)
    kernel = KernelLink(provider.name, relay.reach if relay else reach_directly)
    runner = Runner(provider, kernel)
    tools = ToolService(runner, kernel)
    server = grpc.aio.server(
        options=(
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.server.max_pending_requests", MAX_PENDING),
            ("grpc.server.max_pending_requests_hard_limit", MAX_PENDING),
        )
    )
    plugin = PluginServices(kernel, printed, end.set)
    server.add_generic_rpc_handlers((tools.handler(), *plugin.handlers()))
    if provider.hooks:
        # Eight modules of messages, which only a provider with hooks needs.
        from pluggableharness.sdk.serving.hooks import HookService

        server.add_generic_rpc_handlers((HookService(runner).handler(),))
    server.add_insecure_port(f"unix:{relay.plain if relay else path}")
    await server.start()
    if relay:
        await relay.start(path)
    certificate = relay.certificate if relay else None
    os.write(line_to, format_handshake(Handshake(Network.UNIX, path, certificate)))
    os.close(line_to)
    await end.wait()
    await _end(server, tools, kernel)
    if relay:
        await relay.close()
    _remove(path)


def _relay(name: str, path: str) -> Relay | None:
    """Return what stands between a host that asks for mutual TLS and our sockets."""
    host = os.environ.get(CLIENT_CERTIFICATE_VARIABLE)
    if not host:
        return None
    # 60 ms to import, and our own host does not ask for it.
    from pluggableharness.sdk.serving.mutual_tls import BadCertificate, Relay, mutual_tls

    try:
        return Relay(mutual_tls(host), os.path.dirname(path))
    except BadCertificate as error:
        _refuse(
            f"{name}: the host asks for mutual TLS, but what it passes in "
            f"{CLIENT_CERTIFICATE_VARIABLE} is no certificate in PEM ({error})"
        )


async def _end(server: grpc.aio.Server, tools: ToolService, kernel: KernelLink) -> None:
    try:
        async with asyncio.timeout(END_S):
            # Without grace: each running call is cancelled, and says through Emit what it did.
            await server.stop(None)
            await tools.settled()
            await kernel.close()
    except TimeoutError:
        print("a call did not end in time and is left to the host", file=sys.stderr)


def _leave() -> NoReturn:
    """End the process at once.

    An orderly interpreter exit takes 20 ms to take apart what the system frees anyway, and waits
    for every thread that an operation has left behind in blocking work.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _end_by_signal(end: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, end.set)
    # An interrupt at the terminal is for the host, which decides what becomes of us. A handler,
    # and not SIG_IGN, because children would inherit that.
    signal.signal(signal.SIGINT, lambda *_: None)


def _socket_path(environment: Mapping[str, str]) -> str:
    directory = environment.get(SOCKET_DIR_VARIABLE)
    if not directory:
        # 4 ms to import, and a host that gives no directory is rare.
        import tempfile

        directory = tempfile.mkdtemp(prefix="plugin-")
    path = os.path.abspath(os.path.join(directory, f"plugin-{os.getpid()}"))
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        _refuse(
            f"the socket's path {path!r} is longer than the {MAX_SOCKET_PATH} bytes that "
            f"the system takes: set a shorter {SOCKET_DIR_VARIABLE} or TMPDIR"
        )
    return path


def _remove(path: str) -> None:
    # gRPC removes its socket itself, but does not promise to.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    if not os.environ.get(SOCKET_DIR_VARIABLE):
        os.rmdir(os.path.dirname(path))


def _undumpable() -> None:
    """Keep other processes of this user out of our memory, where secrets are (R6)."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _example(provider: Provider[Any]) -> str:
    """Return a command line that calls the provider's first operation as it was started now."""
    # 3 ms to import, and only a person who started a plugin by hand waits for it.
    from shlex import join

    command = join((sys.executable, *sys.orig_argv[1:]))
    call = ["harness", "call", f"{provider.name}.OPERATION", "--provider", command]
    for operation in provider.operations.values():
        values = [f"{name}=VALUE" for name in operation.arguments.required]
        call[2:3] = [f"{provider.name}.{operation.name}", *values]
        break
    return join(call)


def _refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(1)
