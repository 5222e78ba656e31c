"""A provider that breaks whatever rule it is told to break. Written on the bare wire.

Started as `rogue.py JSON`, where JSON says how the process behaves before its first call; each
call's argument `steps` says what the call does. It stands on grpcio and the generated messages
alone, never on the SDK, which would not let it.
"""

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
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

OPTIONS: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
CALLBACKS = "/pluggableharness.kernel.v1.KernelCallbackService/"
Rpc = Any


class Rogue:
    def __init__(self) -> None:
        self.callback_address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.stopped = asyncio.Event()
        self.configured: dict[str, Any] = {}
        self.running = 0
        self.most = 0

    # What a tool provider answers.

    async def get_schema(self, request: bytes, rpc: Rpc) -> bytes:
        if "schema" in OPTIONS:
            return base64.b64decode(OPTIONS["schema"])
        tools = [
            _tool("run", tool_pb2.TOOL_KIND_RESOURCE, True, safe=True),
            _tool("alone", tool_pb2.TOOL_KIND_RESOURCE, True, safe=False),
            _tool("read", tool_pb2.TOOL_KIND_DATA_SOURCE, True, safe=True),
            _tool("quiet", tool_pb2.TOOL_KIND_DATA_SOURCE, False, safe=True),
        ]
        attributes = [
            config_pb2.ConfigAttribute(**{**one, "type": config_pb2.AttrType.Value(one["type"])})
            for one in OPTIONS.get("settings", [])
        ]
        answer = tool_pb2.GetSchemaResponse(tools=tools)
        answer.config_schema.attributes.extend(attributes)
        return answer.SerializeToString()

    async def describe(self, request: bytes, rpc: Rpc) -> bytes:
        producer = common_pb2.ProducerRef(
            name="rogue",
            version="6.6.6",
            source="test",
            category=common_pb2.CATEGORY_TOOL,
            protocol_version=OPTIONS.get("protocol_version", 1),
        )
        return tool_pb2.DescribeResponse(producer=producer).SerializeToString()

    async def configure(self, request: bytes, rpc: Rpc) -> bytes:
        if "refuse_config" in OPTIONS:
            await rpc.abort(grpc.StatusCode.INVALID_ARGUMENT, OPTIONS["refuse_config"])
        self.configured = from_struct(tool_pb2.ConfigureRequest.FromString(request).config)
        return b""

    async def preview(self, request: bytes, rpc: Rpc) -> bytes:
        arguments = from_struct(tool_pb2.PreviewRequest.FromString(request).call.arguments)
        match arguments.get("preview"):
            case "slow":
                await asyncio.Event().wait()
            case "fails":
                raise RuntimeError("no preview")
            case "empty":
                return b""
            case "nonsense":
                tree = render_pb2.RenderTree(root=render_pb2.RenderNode())
                return tool_pb2.PreviewResponse(preview=tree).SerializeToString()
        node = render_pb2.RenderNode(text=render_pb2.TextNode(content="would do it"))
        tree = render_pb2.RenderTree(root=node)
        return tool_pb2.PreviewResponse(preview=tree).SerializeToString()

    async def render(self, request: bytes, rpc: Rpc) -> bytes:
        asked = tool_pb2.RenderRequest.FromString(request)
        if asked.payload == b"fails":
            raise RuntimeError("no view")
        text = f"{asked.schema_version}: {asked.payload.decode()}"
        node = render_pb2.RenderNode(text=render_pb2.TextNode(content=text))
        tree = render_pb2.RenderTree(root=node)
        return tool_pb2.RenderResponse(tree=tree).SerializeToString()

    async def invoke(self, request: bytes, rpc: Rpc) -> None:
        # Written, not yielded: a generator that waits at its yield never hears of a cancelling.
        call = tool_pb2.InvokeRequest.FromString(request).call
        arguments = from_struct(call.arguments)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            for step in arguments.get("steps", [["result", {}]]):
                async for message in self.step(step, call):
                    await rpc.write(message)
        except asyncio.CancelledError:
            await self.on_cancel(arguments.get("on_cancel", ["report", {}]), call)
            raise
        except _Abort as abort:
            await rpc.abort(grpc.StatusCode[abort.code], str(abort))
        finally:
            self.running -= 1

    async def step(self, step: list[Any], call: tool_pb2.ToolCall) -> AsyncIterator[bytes]:
        what, *rest = step
        match what:
            case "raw":
                yield base64.b64decode(rest[0])
            case "result":
                yield _sent(result=tool_pb2.ToolResult(payload=to_struct(rest[0])))
            case "big":
                yield _sent(result=tool_pb2.ToolResult(payload=to_struct({"x": "x" * rest[0]})))
            case "progress":
                yield _sent(progress=tool_pb2.ToolEvent.Progress(message=rest[0]))
            case "chunks":
                chunk = tool_pb2.ToolEvent.OutputChunk(stream=1, data=b"x" * rest[1])  # type: ignore[arg-type]
                for _ in range(rest[0]):
                    yield _sent(output_chunk=chunk)
            case "tell":
                yield _sent(result=tool_pb2.ToolResult(payload=to_struct(self.facts(call))))
            case "callback":
                yield _sent(
                    result=tool_pb2.ToolResult(payload=to_struct(await self.callback(*rest)))
                )
            case "status":
                raise _Abort(rest[0], rest[1])
            case "raise":
                raise ValueError(rest[0])
            case _:
                await self.do(what, rest)

    async def do(self, what: str, rest: list[Any]) -> None:
        match what:
            case "hang":
                await asyncio.Event().wait()
            case "wait":
                await asyncio.sleep(rest[0])
            case "exit":
                os._exit(rest[0])
            case "kill":
                os.kill(os.getpid(), signal.Signals[rest[0]])
            case "stderr":
                os.write(2, rest[0].encode())
            case "close_stdout":
                os.close(1)
            case "child":
                # Inherits everything: the pipes, and with pass_fds the very sockets.
                descriptors = [int(fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
                kept = [fd for fd in descriptors if os.path.exists(f"/proc/self/fd/{fd}")]
                subprocess.Popen(["sleep", rest[0]], pass_fds=kept if rest[1] else ())
            case "stop_serving":
                asyncio.get_running_loop().call_soon(self.stopped.set)
                await asyncio.Event().wait()
            case _:
                raise AssertionError(what)

    def facts(self, call: tool_pb2.ToolCall) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "environment": dict(os.environ),
            "configured": self.configured,
            "session": call.call_context.session_id,
            "turn": call.call_context.turn_id,
            "cwd": call.call_context.working_directory,
            "id": call.id,
            "most": self.most,
            "stdin": os.readlink("/proc/self/fd/0"),
            "directory_mode": oct(os.stat(os.environ["PLUGIN_UNIX_SOCKET_DIR"]).st_mode & 0o777),
        }

    # What it does to the kernel.

    async def on_cancel(self, how: list[Any], call: tool_pb2.ToolCall) -> None:
        match how:
            case ["report", report]:
                error = tool_pb2.ToolError(
                    category=tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED,
                    message="stopped",
                    details=to_struct(report),
                )
                event = event_pb2.ToolResultEvent(tool_call_id=call.id, error=error)
                await self.emit(call, event)
            case ["result"]:
                result = tool_pb2.ToolResult(payload=to_struct({}))
                event = event_pb2.ToolResultEvent(tool_call_id=call.id, result=result)
                await self.emit(call, event)
            case ["ignore"]:
                await asyncio.Event().wait()

    async def emit(self, call: tool_pb2.ToolCall, event: event_pb2.ToolResultEvent) -> None:
        request = kernel_pb2.EmitRequest(
            session_id=call.call_context.session_id,
            kind=kernel_pb2.EVENT_KIND_TOOL_RESULT,
            schema_version="1",
            payload=event.SerializeToString(),
        )
        await self.callback("Emit", base64.b64encode(request.SerializeToString()).decode())

    async def callback(self, method: str, request: str) -> dict[str, Any]:
        address = await self.callback_address
        async with grpc.aio.insecure_channel(
            f"unix:{address}", options=[("grpc.default_authority", "localhost")]
        ) as channel:
            try:
                rpc: Any = channel.unary_unary(f"{CALLBACKS}{method}")
                answer = await rpc(base64.b64decode(request), timeout=10)
            except grpc.aio.AioRpcError as error:
                return {"code": error.code().name, "message": error.details()}
        return {"answer": base64.b64encode(answer).decode()}

    # What go-plugin expects beside.

    async def check(self, request: bytes, rpc: Rpc) -> bytes:
        return b"\x08\x02" if OPTIONS.get("unhealthy") else b"\x08\x01"

    async def start_stream(self, requests: AsyncIterator[bytes], rpc: Rpc) -> AsyncIterator[bytes]:
        async for request in requests:
            info = plugin_pb2.ConnInfo.FromString(request)
            if info.service_id == 1 and not self.callback_address.done():
                self.callback_address.set_result(info.address)
                yield b""

    async def stream_stdio(self, request: bytes, rpc: Rpc) -> AsyncIterator[bytes]:
        yield plugin_pb2.StdioData(channel=2, data=b"through stdio\n").SerializeToString()  # type: ignore[arg-type]
        await asyncio.Event().wait()

    async def shutdown(self, request: bytes, rpc: Rpc) -> bytes:
        if not OPTIONS.get("deaf"):
            self.stopped.set()
        return b""


class _Abort(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _tool(name: str, kind: int, streaming: bool, *, safe: bool) -> tool_pb2.ToolSchema:
    resource = kind == tool_pb2.TOOL_KIND_RESOURCE
    anything = schema_pb2.Schema(type=schema_pb2.SCHEMA_TYPE_OBJECT)
    return tool_pb2.ToolSchema(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        risk=tool_pb2.RISK_CLASS_LOW if resource else tool_pb2.RISK_CLASS_READ_ONLY,
        description="Does what it is told.",
        input_schema=anything,
        output_schema=anything,
        streaming=streaming,
        concurrency=tool_pb2.ConcurrencySpec(safe=safe),
    )


def _sent(**event: Any) -> bytes:
    return tool_pb2.InvokeResponse(event=tool_pb2.ToolEvent(**event)).SerializeToString()


def _handlers(rogue: Rogue) -> tuple[grpc.GenericRpcHandler, ...]:
    unary = grpc.unary_unary_rpc_method_handler
    stream = grpc.unary_stream_rpc_method_handler

    services: dict[str, dict[str, Any]] = {
        "pluggableharness.tool.v1.ToolService": {
            "GetSchema": unary(rogue.get_schema),
            "Describe": unary(rogue.describe),
            "Configure": unary(rogue.configure),
            "Preview": unary(rogue.preview),
            "Render": unary(rogue.render),
            "Invoke": stream(rogue.invoke),
        },
        "grpc.health.v1.Health": {"Check": unary(rogue.check)},
        "plugin.GRPCBroker": {
            "StartStream": grpc.stream_stream_rpc_method_handler(rogue.start_stream)
        },
        "plugin.GRPCController": {"Shutdown": unary(rogue.shutdown)},
        "plugin.GRPCStdio": {"StreamStdio": stream(rogue.stream_stdio)},
    }
    missing = OPTIONS.get("without", [])
    return tuple(
        grpc.method_handlers_generic_handler(
            service, {name: one for name, one in methods.items() if name not in missing}
        )
        for service, methods in services.items()
        if service not in missing
    )


async def serve() -> None:
    rogue = Rogue()
    size = ("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)
    server = grpc.aio.server(options=size)
    server.add_generic_rpc_handlers(_handlers(rogue))
    address = f"{os.environ['PLUGIN_UNIX_SOCKET_DIR']}/rogue"
    server.add_insecure_port(f"unix:{address}")
    await server.start()
    line = OPTIONS.get("line", "1|1|unix|{address}|grpc|\n").replace("{address}", address)
    sys.stdout.write(line)
    sys.stdout.flush()
    await rogue.stopped.wait()
    await server.stop(None)
    if OPTIONS.get("lingers"):
        await asyncio.Event().wait()


def before() -> None:
    """What happens instead of, or ahead of, being a plugin."""
    if OPTIONS.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "says" in OPTIONS:
        sys.stderr.write(OPTIONS["says"])
        sys.stderr.flush()
    if "exits" in OPTIONS:
        raise SystemExit(OPTIONS["exits"])
    if "prints" in OPTIONS:
        sys.stdout.write(OPTIONS["prints"] * OPTIONS.get("times", 1))
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    before()
    asyncio.run(serve())
