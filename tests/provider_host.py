"""A host of one provider process for tests of the SDK: the other end, written plainly.

It speaks the wire with generated stubs and knows nothing of the SDK's own code, so that both
ends cannot share a mistake.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import grpc.aio
from google.protobuf import json_format, struct_pb2

from pluggableharness.wire import (
    content_pb2,
    kernel_pb2,
    kernel_pb2_grpc,
    plugin_pb2,
    plugin_pb2_grpc,
    session_pb2,
    tool_pb2,
    tool_pb2_grpc,
)
from pluggableharness.wire.handshake import Handshake, parse_handshake, plugin_environment

CHATTY = Path(__file__).parent / "process/chatty_provider.py"
"""A provider with an operation for each thing that can happen on the wire."""
SECRET = "hunter2-s3cret"
"""What CHATTY is configured with, and must not say."""
WAIT = 25.0
"""Bound of every wait, in seconds; reached by a hang only."""


class Kernel(kernel_pb2_grpc.KernelCallbackServiceServicer):
    """Keeps what a provider calls back with, and the metadata it came with."""

    def __init__(self) -> None:
        self.emitted: asyncio.Queue[tuple[kernel_pb2.EmitRequest, str]] = asyncio.Queue()
        self.logged: asyncio.Queue[tuple[kernel_pb2.LogRequest, str]] = asyncio.Queue()
        self.refuse: tuple[grpc.StatusCode, str] | None = None
        self.session_started = asyncio.Event()
        self.session_cancelled = asyncio.Event()
        self.hold_session = False
        self.session_request: kernel_pb2.RunSessionRequest | None = None

    async def Emit(self, request: Any, context: Any) -> Any:
        await self.emitted.put((request, _call_id(context)))
        return kernel_pb2.EmitResult(id="event-1", sequence=7)

    async def Log(self, request: Any, context: Any) -> Any:
        await self.logged.put((request, _call_id(context)))
        return kernel_pb2.LogResult()

    async def RunSession(self, request: Any, context: Any) -> Any:
        self.session_request = request
        self.session_started.set()
        if self.refuse:
            await context.abort(*self.refuse)
        if self.hold_session:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.session_cancelled.set()
                raise
        block = content_pb2.ContentBlock(text=content_pb2.TextBlock(text=f"did {request.prompt}"))
        return kernel_pb2.RunSessionResult(
            session_id="child",
            final_message=content_pb2.Message(content=[block]),
            status=session_pb2.SESSION_STATUS_COMPLETED,
            total_cost_usd=0.25,
            total_input_tokens=11,
            total_output_tokens=request.remaining_depth,
        )


def _call_id(context: Any) -> str:
    metadata: dict[str, str] = dict(context.invocation_metadata())
    return metadata.get("pluggableharness-call-id", "")


class Declared(NamedTuple):
    """An operation as its provider declares it, but for its words and the types of its fields."""

    kind: tool_pb2.ToolKind
    risk: tool_pb2.RiskClass
    safe: bool
    key_fields: list[str]
    idempotent: bool
    streaming: bool
    required: list[str]


@dataclass
class Host:
    """A provider process and the stubs that reach it."""

    process: asyncio.subprocess.Process
    handshake: Handshake
    channel: grpc.aio.Channel
    tools: Any
    kernel: Kernel | None = None
    stderr: list[bytes] = field(default_factory=list)

    def invoke(self, tool: str, arguments: Mapping[str, Any] | None = None, **call: Any) -> Any:
        """Start a call and return gRPC's stream of it."""
        return self.tools.Invoke(tool_pb2.InvokeRequest(call=tool_call(tool, arguments, **call)))

    async def events(self, tool: str, **arguments: Any) -> list[tool_pb2.ToolEvent]:
        """Run a call to its end."""
        async with asyncio.timeout(WAIT):
            return [response.event async for response in self.invoke(tool, arguments)]

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Run a call that has a result, and return its payload."""
        last = (await self.events(tool, **arguments))[-1]
        assert last.HasField("result"), last
        return json_format.MessageToDict(last.result.payload)

    async def declared(self) -> dict[str, Declared]:
        """Ask for the declarations, and return what decides how calls may run, by name."""
        schemas = (await self.tools.GetSchema(tool_pb2.GetSchemaRequest())).tools
        return {
            each.name: Declared(
                each.kind,
                each.risk,
                each.concurrency.safe,
                list(each.concurrency.key_fields),
                each.idempotent,
                each.streaming,
                sorted(each.input_schema.required),
            )
            for each in schemas
        }

    async def shut_down(self) -> int:
        """Ask the provider to stop, as go-plugin does, and return its exit code."""
        controller = plugin_pb2_grpc.GRPCControllerStub(self.channel)
        with contextlib.suppress(grpc.RpcError):
            await controller.Shutdown(plugin_pb2.Empty())
        return await self.exit_code()

    async def exit_code(self) -> int:
        async with asyncio.timeout(WAIT):
            return await self.process.wait()


def tool_call(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    call_id: str = "call-1",
    session_id: str = "session-1",
    working_directory: str = "/",
) -> tool_pb2.ToolCall:
    struct = struct_pb2.Struct()
    json_format.ParseDict(dict(arguments or {}), struct)
    return tool_pb2.ToolCall(
        id=call_id,
        tool_name=tool,
        arguments=struct,
        call_context={
            "session_id": session_id,
            "turn_id": "turn-1",
            "working_directory": working_directory,
        },
    )


async def launch(
    program: Path, environment: Mapping[str, str], arguments: Sequence[str] = ()
) -> asyncio.subprocess.Process:
    """Start a Python program with exactly this environment."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(program),
        *arguments,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@contextlib.asynccontextmanager
async def hosted(
    program: Path,
    socket_dir: Path | None,
    *,
    with_kernel: bool = False,
    configuration: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Host]:
    """Run a provider program under a host until the block ends."""
    variables = plugin_environment(os.environ, str(socket_dir or ""), environment or {})
    process = await launch(program, variables)
    assert process.stdout is not None and process.stderr is not None
    stderr: list[bytes] = []
    reading = asyncio.create_task(_collect(process.stderr, stderr))
    try:
        async with asyncio.timeout(WAIT):
            line = await process.stdout.readline()
        assert line, f"no handshake: {b''.join(stderr).decode()}"
        handshake = parse_handshake(line)
        options = (("grpc.default_authority", "localhost"), ("grpc.max_receive_message_length", -1))
        async with grpc.aio.insecure_channel(handshake.target, options=options) as channel:
            host = Host(
                process,
                handshake,
                channel,
                tool_pb2_grpc.ToolServiceStub(channel),
                stderr=stderr,
            )
            async with contextlib.AsyncExitStack() as stack:
                if with_kernel:
                    assert socket_dir is not None, "a kernel's socket needs a directory"
                    host.kernel = await stack.enter_async_context(_kernel(channel, socket_dir))
                struct = struct_pb2.Struct()
                json_format.ParseDict(dict(configuration or {}), struct)
                await host.tools.Configure(tool_pb2.ConfigureRequest(config=struct))
                yield host
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()
        await reading


@contextlib.asynccontextmanager
async def served(
    program: Path, configuration: Mapping[str, Any] | None = None
) -> AsyncIterator[Host]:
    """As `hosted`, with a folder for the socket: its path has to be short, and pytest's are not."""
    with tempfile.TemporaryDirectory() as sockets:
        async with hosted(program, Path(sockets), configuration=configuration) as host:
            yield host


@contextlib.asynccontextmanager
async def _kernel(channel: grpc.aio.Channel, socket_dir: Path) -> AsyncIterator[Kernel]:
    """Serve the callbacks, and announce them through the plugin's broker."""
    kernel = Kernel()
    server = grpc.aio.server()
    kernel_pb2_grpc.add_KernelCallbackServiceServicer_to_server(kernel, server)
    address = socket_dir / "kernel"
    server.add_insecure_port(f"unix:{address}")
    await server.start()
    stream = plugin_pb2_grpc.GRPCBrokerStub(channel).StartStream()
    await stream.write(
        plugin_pb2.ConnInfo(service_id=1, network="unix", address=str(address)),
    )
    try:
        yield kernel
    finally:
        stream.cancel()
        await server.stop(None)


async def _collect(stream: asyncio.StreamReader, into: list[bytes]) -> None:
    while data := await stream.read(65536):
        into.append(data)


def details(error: tool_pb2.ToolError) -> dict[str, Any]:
    return json_format.MessageToDict(error.details)


async def said(host: Host, text: str) -> str:
    """Wait until the provider's real stderr holds `text`, and return all of it."""
    async with asyncio.timeout(WAIT):
        while text not in (heard := b"".join(host.stderr).decode()):
            await asyncio.sleep(0.01)
    return heard


async def end(host: Host, how: str) -> int:
    """Let the provider end in order, by "shutdown" or "sigterm", and return its exit code."""
    if how == "shutdown":
        return await host.shut_down()
    host.process.send_signal(signal.SIGTERM)
    return await host.exit_code()
