"""One provider process that may be called: started, introduced, called, ended."""

import asyncio
from typing import Any

from google.protobuf.message import DecodeError

from pluggableharness.kernel.codec.render import render_from_wire
from pluggableharness.kernel.codec.tool import call_to_wire, places_to_metadata
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.plugins.broker import Broker
from pluggableharness.kernel.plugins.callbacks import Callbacks, File, RunChild, no_children
from pluggableharness.kernel.plugins.calls import Calls
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.flights import Flights
from pluggableharness.kernel.plugins.introduction import Introduction, introduce
from pluggableharness.kernel.plugins.launch import (
    HANDSHAKE_S,
    Launched,
    StartFailed,
    Unreachable,
    launch,
)
from pluggableharness.kernel.plugins.life import STOP_S
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.plugins.transport import (
    HOOK_SERVICE,
    TOOL_SERVICE,
    Channel,
    grpc_aio,
    open_channel,
)
from pluggableharness.kernel.private import PrivateDirectory
from pluggableharness.wire import tool_pb2


async def start_provider(
    spec: ProviderSpec,
    file: File,
    run_child: RunChild = no_children,
    *,
    timeout_s: float = HANDSHAKE_S,
) -> "ProviderProcess":
    """Start a provider and make it ready for calls (K15); `file` stores what it emits.

    Raises:
        ProviderLoadError: with every reason. Nothing of the process is left then.
    """
    place = PrivateDirectory()
    launching = asyncio.create_task(launch(spec, place, timeout_s))
    # One step of the loop starts the process; what follows loads gRPC while it starts up.
    await asyncio.sleep(0)
    flights = Flights(asyncio.get_running_loop().time)
    callbacks = Callbacks(Producer(spec.name, category="tool"), flights, file, run_child)
    server = callbacks.new_server()
    try:
        address = f"{place.path}/kernel"
        server.add_insecure_port(f"unix:{address}")
        await server.start()
        launched = await launching
    except BaseException as error:
        await _abandon(launching)
        await server.stop(None)
        raise _cause(spec, launching, error) from error
    connection = Connection(launched, open_channel(launched.handshake.target), server)
    try:
        await connection.broker.announce(address)
        connection.broker.capture()
        introduction = await introduce(connection.channel, spec)
    except BaseException as error:
        await connection.close(0)
        if isinstance(error, StartFailed):
            raise ProviderLoadError(spec.name, [connection.cause(error)]) from error
        raise
    callbacks.producer = introduction.producer
    launched.life.secrets += introduction.secrets
    return ProviderProcess(connection, flights, introduction)


async def _abandon(launching: "asyncio.Task[Launched]") -> None:
    launching.cancel()
    await asyncio.wait([launching])
    if not launching.cancelled() and launching.exception() is None:
        await launching.result().end(0)


def _cause(
    spec: ProviderSpec, launching: "asyncio.Task[Launched]", error: BaseException
) -> BaseException:
    """The process's own failure is the cause of whatever else failed at the same time."""
    own = None if launching.cancelled() else launching.exception()
    if isinstance(own, StartFailed):
        return ProviderLoadError(spec.name, [str(own)])
    return error


class Connection:
    """What stands between us and a launched process, and has to be closed in order."""

    def __init__(self, launched: Launched, channel: Channel, server: Any) -> None:
        self.channel = channel
        self.life = launched.life
        self.broker = Broker(channel, launched.life.listener())
        self._launched = launched
        self._server = server

    def cause(self, error: StartFailed) -> str:
        """Why the introduction failed; asked once all is closed."""
        if isinstance(error, Unreachable) and self.life.death.done():
            return f"it {self.life.words()}\nbefore it was ready ({error})"
        return str(error)

    async def close(self, grace_s: float) -> None:
        """End the process, in order for so long, and close everything (K16)."""
        if grace_s and self.life.usable:
            self.broker.shutdown()
        await self._launched.end(grace_s)
        await self.broker.close()
        await self.channel.close()
        await self._server.stop(None)


class ProviderProcess:
    """A provider that has introduced itself and taken its configuration."""

    def __init__(
        self, connection: Connection, flights: Flights, introduction: Introduction
    ) -> None:
        self.calls = Calls(connection.channel, flights, connection.life)
        self.introduction = introduction
        self._declared = {operation.name: operation for operation in introduction.operations}
        self._connection = connection
        self._preview = connection.channel.unary_unary(f"{TOOL_SERVICE}Preview")
        self._without_preview: set[str] = set()
        self._hook = connection.channel.unary_unary(f"{HOOK_SERVICE}DispatchHook")
        self._render = connection.channel.unary_unary(f"{TOOL_SERVICE}Render")

    @property
    def usable(self) -> bool:
        """Whether calls may still be sent there."""
        return self._connection.life.usable

    def declares(self, operation: Operation) -> bool:
        """Whether it declares the operation exactly so (K10a)."""
        return self._declared.get(operation.name) == operation

    def previews(self, operation: str) -> bool:
        """Whether the operation may have a preview: it has not answered UNIMPLEMENTED yet."""
        return operation not in self._without_preview

    async def preview(self, call: Call) -> RenderNode | None:
        """What a call would do; None when the provider does not say (P29)."""
        grpc = grpc_aio()
        try:
            request = tool_pb2.PreviewRequest(call=call_to_wire(call))
            places = places_to_metadata(call)
            answer = await self._preview(request.SerializeToString(), metadata=places)
            response = tool_pb2.PreviewResponse.FromString(answer)
            return render_from_wire(response.preview) if response.HasField("preview") else None
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                self._without_preview.add(call.operation.name)
            return None
        except (DecodeError, ValueError):
            return None

    async def render(self, payload: bytes, schema_version: str) -> RenderNode | None:
        """What a recorded payload looks like; None when the provider does not say (P30)."""
        try:
            request = tool_pb2.RenderRequest(payload=payload, schema_version=schema_version)
            answer = await self._render(request.SerializeToString())
            response = tool_pb2.RenderResponse.FromString(answer)
            return render_from_wire(response.tree) if response.HasField("tree") else None
        except (grpc_aio().RpcError, DecodeError, ValueError):
            return None

    async def hook(self, request: bytes) -> bytes:
        """The answer of its HookSubscriberService. Raises what gRPC raises."""
        answer: bytes = await self._hook(request)
        return answer

    async def discard(self) -> None:
        """Be rid of it at once."""
        await self._connection.close(0)

    async def close(self) -> None:
        """Ask it to stop, wait 2 s, then kill it with all that it started (K16)."""
        await self._connection.close(STOP_S)
