"""ToolService: the RPCs of the contract over one `Runner`.

Handlers take and give bytes, so that what has been serialised once is not touched again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
import grpc.aio

from pluggableharness.sdk.arguments import violations
from pluggableharness.sdk.callbacks import CallRef
from pluggableharness.sdk.calling import Call, Ending, Runner
from pluggableharness.sdk.events import Failure, LeadUp
from pluggableharness.sdk.failures import (
    Category,
    DeclarationError,
    InvalidArguments,
    ToolFailure,
)
from pluggableharness.sdk.naming import bounded
from pluggableharness.sdk.operation import Operation
from pluggableharness.sdk.serving import messages
from pluggableharness.sdk.serving.kernel_link import KernelLink
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.structs import from_struct

SERVICE: Final = "pluggableharness.tool.v1.ToolService"
_SHOWN: Final = 4_000
"""Characters of an RPC error's message: it travels in a header, whose size is limited."""

Rpc = grpc.aio.ServicerContext[bytes, bytes]


class ToolService:
    """Answers the RPCs of one provider, and knows which of its calls still run."""

    def __init__(self, runner: Runner, kernel: KernelLink) -> None:
        self._runner = runner
        self._kernel = kernel
        self._schema = b""
        self._prepared: asyncio.Future[None] | None = None
        self._running = 0
        self._reports: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def handler(self) -> grpc.GenericRpcHandler:
        """Return what a gRPC server serves."""
        unary = grpc.unary_unary_rpc_method_handler
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "GetSchema": unary(self.get_schema),
                "Configure": unary(self.configure),
                # Its response is a stream, yet it is registered as one message: then gRPC sends
                # the terminal event and the status together, which takes 70 µs off a call of
                # 750. What comes before is written as in any stream; on the wire there is no
                # difference.
                "Invoke": unary(self.invoke),
                "Render": unary(self.render),
                "Preview": unary(self.preview),
                "Describe": unary(self.describe),
            },
        )

    async def get_schema(self, request: bytes, rpc: Rpc) -> bytes:
        """Answer with the declarations, made once (P1)."""
        await self._prepare(rpc)
        if not self._schema:
            self._schema = messages.get_schema_response(self._runner.provider)
        return self._schema

    async def describe(self, request: bytes, rpc: Rpc) -> bytes:
        """Answer with name and version (P30)."""
        await self._prepare(rpc)
        return messages.describe_response(self._runner.provider)

    async def _prepare(self, rpc: Rpc) -> None:
        """Wait until the provider can say what it offers, which is worked at once."""
        if self._prepared is None:
            self._prepared = asyncio.ensure_future(self._runner.provider.prepare())
        try:
            await asyncio.shield(self._prepared)
            self._runner.provider.check()
        except (ToolFailure, DeclarationError) as failure:
            said = self._runner.redactor.text(str(failure))
            await rpc.abort(grpc.StatusCode.FAILED_PRECONDITION, bounded(said, _SHOWN))

    async def configure(self, request: bytes, rpc: Rpc) -> bytes:
        """Take the settings, or refuse them by the names of their fields (P28)."""
        try:
            values = from_struct(tool_pb2.ConfigureRequest.FromString(request).config)
            self._runner.configure(values)
        except (InvalidArguments, ValueError) as refusal:
            await rpc.abort(grpc.StatusCode.INVALID_ARGUMENT, bounded(str(refusal), _SHOWN))
        return b""

    async def invoke(self, request: bytes, rpc: Rpc) -> bytes:
        """Run a call: write what comes before its end, return its terminal event (P10)."""
        message = tool_pb2.InvokeRequest.FromString(request).call
        try:
            call = messages.call_of(message, rpc.invocation_metadata() or ())
        except ValueError as problem:
            said = self._runner.redactor.text(str(problem))
            refusal = Failure(Category.INVALID_ARGUMENTS, said)
            return messages.terminal(message.tool_name, refusal)
        return await self._run(call, rpc)

    async def _run(self, call: Call, rpc: Rpc) -> bytes:
        ending = Ending()
        self._running += 1
        self._idle.clear()
        try:
            terminal = await self._runner.run(call, _writer(rpc, ending), ending)
        except asyncio.CancelledError:
            self._report(call.ref, ending)
            # gRPC drops this where its client cancelled. Where instead somebody's code cancelled
            # the task that it runs in, raising on would leave the call without an end for ever.
            terminal = Failure(
                Category.UNKNOWN, "CancelledError: the call's own task was cancelled"
            )
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()
        return messages.terminal(call.tool_name, terminal)

    def _report(self, ref: CallRef, ending: Ending) -> None:
        """Send the report of a cancelled call, from a task that its cancellation does not reach."""
        report = self._kernel.report_cancelled(ref, ending.report or {})
        task = asyncio.get_running_loop().create_task(report)
        self._reports.add(task)
        task.add_done_callback(self._reports.discard)

    async def preview(self, request: bytes, rpc: Rpc) -> bytes:
        """Describe a call without doing any of it (P29).

        An operation that has no preview is UNIMPLEMENTED, so that a host need not ask twice.
        """
        # Only a call that is to be shown needs the nodes.
        from pluggableharness.sdk.render import tree_of

        message = tool_pb2.PreviewRequest.FromString(request).call
        operation = self._runner.provider.operations.get(message.tool_name)
        if operation is not None and operation.previewer is None:
            await rpc.abort(grpc.StatusCode.UNIMPLEMENTED, f"{operation.name} has no preview")
        response = tool_pb2.PreviewResponse()
        try:
            call = messages.call_of(message, rpc.invocation_metadata() or ())
            node = await self._runner.preview(call)
            if node is not None:
                response.preview.CopyFrom(tree_of(node))
        except Exception as error:
            await self._refuse(rpc, error)
        return response.SerializeToString()

    async def render(self, request: bytes, rpc: Rpc) -> bytes:
        """Draw a recorded payload (P30); without a function for it the response is empty."""
        # As in preview: only what is to be shown needs the nodes.
        from pluggableharness.sdk.render import tree_of

        message = tool_pb2.RenderRequest.FromString(request)
        response = tool_pb2.RenderResponse()
        try:
            payload = _recorded(message.payload)
            operation = self._rendering(payload, message.schema_version)
            node = None if operation is None else self._runner.render(operation, payload)
            if node is not None:
                response.tree.CopyFrom(tree_of(node))
        except Exception as error:
            await self._refuse(rpc, error)
        return response.SerializeToString()

    def _rendering(self, payload: dict[str, Any], version: str) -> Operation[..., Any] | None:
        """Return the operation that draws a payload.

        The request does not name it. It is the one that the schema version names, else the
        first whose declared result the payload is.
        """
        operations = self._runner.provider.operations
        named = operations.get(version.partition("/")[0])
        if named is not None:
            return named
        for operation in operations.values():
            if operation.renderer and not any(violations(operation.result, payload, "")):
                return operation
        return None

    async def _refuse(self, rpc: Rpc, error: Exception) -> None:
        if isinstance(error, (InvalidArguments, ValueError)):
            code = grpc.StatusCode.INVALID_ARGUMENT
        else:
            code = grpc.StatusCode.INTERNAL
        text = str(error) if isinstance(error, ToolFailure) else f"{type(error).__name__}: {error}"
        await rpc.abort(code, bounded(self._runner.redactor.text(text), _SHOWN))

    async def settled(self) -> None:
        """Wait until no call runs and every report is sent."""
        await self._idle.wait()
        while self._reports:
            await asyncio.wait(self._reports)


def _writer(rpc: Rpc, ending: Ending) -> Callable[[LeadUp], Awaitable[None]]:
    write = rpc.write

    async def send(event: LeadUp) -> None:
        data = messages.lead_up(event)
        try:
            await write(data)
        except (grpc.RpcError, grpc.aio.BaseError, asyncio.InvalidStateError):
            # The caller is gone, and gRPC is about to cancel the call: it is the same to the
            # function, also where it sends from a task of its own.
            ending.caller_gone = True
            raise asyncio.CancelledError from None

    return send


def _recorded(payload: bytes) -> dict[str, Any]:
    """Read a recorded payload: the event as the wire has it, or the result as JSON.

    Raises:
        ValueError: it is neither.
    """
    if payload.lstrip()[:1] == b"{":
        result = json.loads(payload)
        if isinstance(result, dict):
            return result
    # Only a rendered record needs these messages.
    from pluggableharness.wire.event_pb2 import ToolResultEvent

    try:
        event = ToolResultEvent.FromString(payload)
    except Exception as error:
        raise ValueError(f"the payload is neither JSON nor a ToolResultEvent: {error}") from None
    return from_struct(event.result.payload)
