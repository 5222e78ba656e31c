"""The provider of R5 on the bare wire: each call names a seed, and it does the deed of that."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

# It is started as a file, in a process that knows no project.
sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.survive.hostility import deed
from pluggableharness.wire import schema_pb2, tool_pb2


async def get_schema(request: bytes, rpc: Any) -> bytes:
    anything = schema_pb2.Schema(type=schema_pb2.SCHEMA_TYPE_OBJECT)
    speak = tool_pb2.ToolSchema(
        name="speak",
        kind=tool_pb2.TOOL_KIND_DATA_SOURCE,
        risk=tool_pb2.RISK_CLASS_READ_ONLY,
        description="Says anything.",
        input_schema=anything,
        output_schema=anything,
        streaming=True,
        concurrency=tool_pb2.ConcurrencySpec(safe=True),
    )
    return tool_pb2.GetSchemaResponse(tools=[speak]).SerializeToString()


async def invoke(request: bytes, rpc: Any) -> None:
    call = tool_pb2.InvokeRequest.FromString(request).call
    done = deed(int(call.arguments.fields["seed"].number_value))
    for message in done.messages:
        await rpc.write(message)
    if done.status != "OK":
        await rpc.abort(grpc.StatusCode[done.status], "so there")


async def nothing(request: bytes, rpc: Any) -> bytes:
    return b""


async def healthy(request: bytes, rpc: Any) -> bytes:
    return b"\x08\x01"


async def serve() -> None:
    unary = grpc.unary_unary_rpc_method_handler
    services: dict[str, dict[str, Any]] = {
        "pluggableharness.tool.v1.ToolService": {
            "GetSchema": unary(get_schema),
            "Configure": unary(nothing),
            "Invoke": grpc.unary_stream_rpc_method_handler(invoke),
        },
        "grpc.health.v1.Health": {"Check": unary(healthy)},
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(*one) for one in services.items())
    )
    address = f"{os.environ['PLUGIN_UNIX_SOCKET_DIR']}/liar"
    server.add_insecure_port(f"unix:{address}")
    await server.start()
    print(f"1|1|unix|{address}|grpc|", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve())
