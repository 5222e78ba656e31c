"""The services that go-plugin expects beside the category's own: health, broker, controller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

import grpc
import grpc.aio

from pluggableharness.sdk.serving.kernel_link import KernelLink
from pluggableharness.sdk.serving.printed import Printed
from pluggableharness.wire import plugin_pb2
from pluggableharness.wire.handshake import CALLBACK_SERVICE_ID, HEALTH_SERVICE

Rpc = grpc.aio.ServicerContext[bytes, bytes]

_SERVING: Final = b"\x08\x01"
"""A HealthCheckResponse whose status is SERVING, the only one there is while we answer."""


class PluginServices:
    """Answers them for one process; `end` is called when the host asks to stop."""

    def __init__(self, kernel: KernelLink, printed: Printed, end: Callable[[], None]) -> None:
        self._kernel = kernel
        self._printed = printed
        self._end = end

    def handlers(self) -> tuple[grpc.GenericRpcHandler, ...]:
        """Return what a gRPC server serves."""
        generic = grpc.method_handlers_generic_handler
        return (
            generic(
                "grpc.health.v1.Health",
                {
                    "Check": grpc.unary_unary_rpc_method_handler(self.check),
                    "Watch": grpc.unary_stream_rpc_method_handler(self.watch),
                },
            ),
            generic(
                "plugin.GRPCBroker",
                {"StartStream": grpc.stream_stream_rpc_method_handler(self.start_stream)},
            ),
            generic(
                "plugin.GRPCController",
                {"Shutdown": grpc.unary_unary_rpc_method_handler(self.shutdown)},
            ),
            generic(
                "plugin.GRPCStdio",
                {"StreamStdio": grpc.unary_stream_rpc_method_handler(self._printed.stream)},
            ),
        )

    async def check(self, request: bytes, rpc: Rpc) -> bytes:
        """Answer that the plugin serves."""
        await _known_service(request, rpc)
        return _SERVING

    async def watch(self, request: bytes, rpc: Rpc) -> AsyncIterator[bytes]:
        """Say once that the plugin serves: its end is the end of the connection."""
        await _known_service(request, rpc)
        yield _SERVING
        await asyncio.Event().wait()

    async def start_stream(self, requests: AsyncIterator[bytes], rpc: Rpc) -> None:
        """Learn where the host serves the kernel's callbacks; announce nothing ourselves."""
        async for request in requests:
            info = plugin_pb2.ConnInfo.FromString(request)
            if info.service_id == CALLBACK_SERVICE_ID and not info.knock.knock:
                self._kernel.announce(info.network, info.address)

    async def shutdown(self, request: bytes, rpc: Rpc) -> bytes:
        """End the process, after the answer is out."""
        rpc.add_done_callback(self._answered)  # type: ignore[arg-type]  # stubs want a class
        return plugin_pb2.Empty().SerializeToString()

    def _answered(self, context: Rpc) -> None:
        self._end()


async def _known_service(request: bytes, rpc: Rpc) -> None:
    # Hosts seldom ask, so its messages are not loaded at the start.
    from grpc_health.v1.health_pb2 import HealthCheckRequest

    service = HealthCheckRequest.FromString(request).service
    if service not in ("", HEALTH_SERVICE):
        await rpc.abort(grpc.StatusCode.NOT_FOUND, f"there is no service {service!r} here")
