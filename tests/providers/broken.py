"""A provider on the bare wire that keeps the contract, save for the one requirement it is given.

Started as `broken.py ID`. "none" breaks nothing, and "remark" only gives cause for a remark.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from pluggableharness.wire import (
    common_pb2,
    config_pb2,
    event_pb2,
    kernel_pb2,
    plugin_pb2,
    render_pb2,
    schema_pb2,
    tool_pb2,
)
from pluggableharness.wire.structs import from_struct, to_struct

BROKEN = sys.argv[1]
Rpc = Any
Emit = "/pluggableharness.kernel.v1.KernelCallbackService/Emit"


class Broken:
    def __init__(self) -> None:
        self.kernel: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.stopped = asyncio.Event()
        self.asked = 0

    async def get_schema(self, request: bytes, rpc: Rpc) -> bytes:
        self.asked += 1
        text = schema_pb2.Schema(type=schema_pb2.SCHEMA_TYPE_STRING)
        named = schema_pb2.Schema(
            type=schema_pb2.SCHEMA_TYPE_OBJECT, properties={"name": text}, required=["name"]
        )
        seen = schema_pb2.Schema(
            type=schema_pb2.SCHEMA_TYPE_OBJECT, properties={"seen": text}, required=["seen"]
        )
        look = tool_pb2.ToolSchema(
            name="look",
            kind=tool_pb2.TOOL_KIND_DATA_SOURCE,
            risk=tool_pb2.RISK_CLASS_READ_ONLY,
            description="Looks." + (str(self.asked) if BROKEN == "P1" else ""),
            input_schema=named,
            output_schema=seen,
            streaming=True,
            concurrency=tool_pb2.ConcurrencySpec(safe=True),
            terminates_turn=BROKEN == "P3",
        )
        alter = tool_pb2.ToolSchema(
            name="alter",
            kind=tool_pb2.TOOL_KIND_RESOURCE,
            risk=tool_pb2.RISK_CLASS_LOW,
            description="Alters.",
            input_schema=named,
            output_schema=seen,
            concurrency=tool_pb2.ConcurrencySpec(
                safe=True, key_fields={"P5": ["nobody"], "remark": []}.get(BROKEN, ["name"])
            ),
        )
        if BROKEN == "P6":
            alter.output_schema.required.append("nowhere")
        answer = tool_pb2.GetSchemaResponse(tools=[look, alter])
        answer.config_schema.attributes.append(
            config_pb2.ConfigAttribute(
                name="token", type=config_pb2.ATTR_TYPE_STRING, sensitive=True
            )
        )
        return answer.SerializeToString()

    async def describe(self, request: bytes, rpc: Rpc) -> bytes:
        producer = common_pb2.ProducerRef(
            name="broken",
            version="" if BROKEN == "P30" else "1",
            source="test",
            category=common_pb2.CATEGORY_TOOL,
            protocol_version=1,
        )
        return tool_pb2.DescribeResponse(producer=producer).SerializeToString()

    async def configure(self, request: bytes, rpc: Rpc) -> bytes:
        config = from_struct(tool_pb2.ConfigureRequest.FromString(request).config)
        for name, value in config.items():
            if name != "token" or not isinstance(value, str):
                wrong = "something" if BROKEN == "P28" else name
                await rpc.abort(grpc.StatusCode.INVALID_ARGUMENT, f"{wrong} is wrong")
        if BROKEN == "P31":
            print("configured with", config.get("token"), file=sys.stderr, flush=True)
        return b""

    async def preview(self, request: bytes, rpc: Rpc) -> bytes:
        call = tool_pb2.PreviewRequest.FromString(request).call
        if BROKEN == "P29":
            Path(call.call_context.working_directory, "done").write_text("already")
        node = render_pb2.RenderNode(text=render_pb2.TextNode(content="would do it"))
        tree = render_pb2.RenderTree(root=node)
        return tool_pb2.PreviewResponse(preview=tree).SerializeToString()

    async def invoke(self, request: bytes, rpc: Rpc) -> None:
        call = tool_pb2.InvokeRequest.FromString(request).call
        arguments = from_struct(call.arguments)
        if call.tool_name not in ("look", "alter"):
            await rpc.write(error("NOT_FOUND", "" if BROKEN == "P16" else "there is none"))
        elif list(arguments) != ["name"] or not isinstance(arguments["name"], str):
            lenient = BROKEN == "P8" and call.tool_name == "look"
            refusal = error("INVALID_ARGUMENTS", "name: expected a string")
            await rpc.write(result({"seen": "whatever"}) if lenient else refusal)
        else:
            await self.look(call, rpc)

    async def look(self, call: tool_pb2.ToolCall, rpc: Rpc) -> None:
        try:
            # Long enough to be cancelled on its way, which is what it is called for.
            await asyncio.sleep(0.2)
            for message in looking():
                await rpc.write(message)
        except asyncio.CancelledError:
            if BROKEN == "P25":
                os.kill(os.getpid(), signal.SIGKILL)
            await self.report(call)
            raise

    async def report(self, call: tool_pb2.ToolCall) -> None:
        event = event_pb2.ToolResultEvent(tool_call_id=call.id)
        if BROKEN == "P26":
            event.result.payload.CopyFrom(to_struct({"seen": "after all"}))
        else:
            event.error.category = tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED
        request = kernel_pb2.EmitRequest(
            session_id=call.call_context.session_id,
            kind=kernel_pb2.EVENT_KIND_TOOL_RESULT,
            schema_version="1",
            payload=event.SerializeToString(),
        )
        options = [("grpc.default_authority", "localhost")]
        address = f"unix:{await self.kernel}"
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            emit: Any = channel.unary_unary(Emit)
            await emit(request.SerializeToString(), timeout=10)

    async def check(self, request: bytes, rpc: Rpc) -> bytes:
        return b"\x08\x01"

    async def start_stream(self, requests: AsyncIterator[bytes], rpc: Rpc) -> None:
        async for request in requests:
            info = plugin_pb2.ConnInfo.FromString(request)
            if info.service_id == 1 and not self.kernel.done():
                self.kernel.set_result(info.address)

    async def shutdown(self, request: bytes, rpc: Rpc) -> bytes:
        if BROKEN != "K16":
            self.stopped.set()
        return b""


def looking() -> list[bytes]:
    """What a valid call sends."""
    seen = result({"seen": "it"})
    match BROKEN:
        case "P10":
            return [seen, seen]
        case "P11":
            return [sent(progress=tool_pb2.ToolEvent.Progress(fraction_complete=7)), seen]
        case "P12":
            return [result({"seen": 5})]
        case "P13":
            exited = tool_pb2.ToolEvent.ExitStatus(exit_code=1)
            return [sent(exit_status=exited), error("EXECUTION_FAILED", "exited with 1")]
        case "P15":
            return [error("PROCESS_CRASHED", "I died")]
        case _:
            return [seen]


def sent(**event: Any) -> bytes:
    return tool_pb2.InvokeResponse(event=tool_pb2.ToolEvent(**event)).SerializeToString()


def result(payload: dict[str, Any]) -> bytes:
    return sent(result=tool_pb2.ToolResult(payload=to_struct(payload)))


def error(category: str, message: str) -> bytes:
    name = f"TOOL_ERROR_CATEGORY_{category}"
    return sent(error=tool_pb2.ToolError(category=name, message=message))


async def serve() -> None:
    broken = Broken()
    unary, stream = grpc.unary_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
    services: dict[str, dict[str, Any]] = {
        "pluggableharness.tool.v1.ToolService": {
            "GetSchema": unary(broken.get_schema),
            "Describe": unary(broken.describe),
            "Configure": unary(broken.configure),
            "Preview": unary(broken.preview),
            "Invoke": grpc.unary_stream_rpc_method_handler(broken.invoke),
        },
        "grpc.health.v1.Health": {"Check": unary(broken.check)},
        "plugin.GRPCBroker": {"StartStream": stream(broken.start_stream)},
        "plugin.GRPCController": {"Shutdown": unary(broken.shutdown)},
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(*one) for one in services.items())
    )
    address = f"{os.environ['PLUGIN_UNIX_SOCKET_DIR']}/broken"
    server.add_insecure_port(f"unix:{address}")
    await server.start()
    print(f"1|1|unix|{address}|grpc|", flush=True)
    await broken.stopped.wait()
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve())
