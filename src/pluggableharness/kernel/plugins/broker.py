"""go-plugin's side services as the host uses them: the broker, captured output, the stop.

Each may be missing: a plugin without a broker cannot call back, one without stdio prints to
its real stderr, one without a controller is ended by force.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from google.protobuf.message import DecodeError

from pluggableharness.kernel.plugins.transport import Channel, grpc_aio
from pluggableharness.wire import plugin_pb2
from pluggableharness.wire.handshake import CALLBACK_SERVICE_ID

if TYPE_CHECKING:
    import grpc.aio

Stream: TypeAlias = "grpc.aio.StreamStreamCall[bytes, bytes]"

_BROKER: Final = "/plugin.GRPCBroker/StartStream"
_STDIO: Final = "/plugin.GRPCStdio/StreamStdio"
_SHUTDOWN: Final = "/plugin.GRPCController/Shutdown"

_ANNOUNCE_S: Final = 2.0
"""Between two announcements. go-plugin forgets one that nobody dials within 5 s, gives each to
one dialler only, and has a dial wait 5 s for one: so a plugin may dial whenever it likes."""


class Broker:
    """The long-lived streams beside the calls of one process."""

    def __init__(self, channel: Channel, printed: Callable[[bytes], None]) -> None:
        self._channel = channel
        self._printed = printed
        self._tasks: list[asyncio.Task[None]] = []

    async def announce(self, address: str) -> None:
        """Tell the plugin, now and again, under which unix socket it finds the callbacks."""
        info = plugin_pb2.ConnInfo(service_id=CALLBACK_SERVICE_ID, network="unix", address=address)
        data = info.SerializeToString()
        stream = self._channel.stream_stream(_BROKER)()
        if await _written(stream, data):
            # It stays open for as long as the process lives, as go-plugin's hosts do it.
            self._tasks.append(asyncio.create_task(_read_out(stream)))
            self._tasks.append(asyncio.create_task(_repeat(stream, data)))

    def capture(self) -> None:
        """Take what the plugin's process prints through GRPCStdio, where it has that."""
        self._tasks.append(asyncio.create_task(self._take_output()))

    def shutdown(self) -> None:
        """Ask the process to end in order; that it ends is the answer, and Go's only one."""
        self._tasks.append(asyncio.create_task(self._ask_to_end()))

    async def close(self) -> None:
        """End the streams."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask_to_end(self) -> None:
        try:
            await self._channel.unary_unary(_SHUTDOWN)(b"")
        except grpc_aio().RpcError:
            pass

    async def _take_output(self) -> None:
        stream = self._channel.unary_stream(_STDIO)(b"")
        try:
            async for data in stream:
                self._printed(plugin_pb2.StdioData.FromString(data).data)
        except (grpc_aio().RpcError, DecodeError):
            pass


async def _written(stream: Stream, data: bytes) -> bool:
    try:
        await stream.write(data)
    except (grpc_aio().RpcError, asyncio.InvalidStateError):
        return False
    return True


async def _repeat(stream: Stream, data: bytes) -> None:
    while True:
        await asyncio.sleep(_ANNOUNCE_S)
        if not await _written(stream, data):
            return


async def _read_out(stream: Stream) -> None:
    """A plugin may announce servers of its own; nobody here calls them."""
    try:
        async for _ in stream:
            pass
    except grpc_aio().RpcError:
        pass
