"""A provider without an SDK: it answers what it must to be loaded; the rest is its author's."""

import os
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import grpc
import grpc.aio

Answer = Callable[[bytes, Any], Awaitable[bytes]]
"""Takes a request's bytes and gRPC's context."""

Stream = Callable[[bytes, Any], Awaitable[None]]
"""The same, and writes what it answers."""


async def serve(
    name: str,
    get_schema: Answer,
    invoke: Stream,
    further: Mapping[str, Mapping[str, Answer]] = MappingProxyType({}),
) -> None:
    """Serve until it is killed; `further` are services by their full names, and their methods."""
    unary = grpc.unary_unary_rpc_method_handler
    services: dict[str, dict[str, Any]] = {
        "pluggableharness.tool.v1.ToolService": {
            "GetSchema": unary(get_schema),
            "Configure": unary(_nothing),
            "Invoke": grpc.unary_stream_rpc_method_handler(invoke),
        },
        "grpc.health.v1.Health": {"Check": unary(_healthy)},
        **{one: {word: unary(each) for word, each in it.items()} for one, it in further.items()},
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(*one) for one in services.items())
    )
    address = f"{os.environ['PLUGIN_UNIX_SOCKET_DIR']}/{name}"
    server.add_insecure_port(f"unix:{address}")
    await server.start()
    print(f"1|1|unix|{address}|grpc|", flush=True)
    await server.wait_for_termination()


async def _nothing(request: bytes, rpc: Any) -> bytes:
    return b""


async def _healthy(request: bytes, rpc: Any) -> bytes:
    return b"\x08\x01"
