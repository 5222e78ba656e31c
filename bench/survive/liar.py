"""The provider of R5 on the bare wire: each call names a seed, and it does the deed of that."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import grpc

# It is started as a file, in a process that knows no project.
sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.survive.bare_wire import serve
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


if __name__ == "__main__":
    asyncio.run(serve("liar", get_schema, invoke))
