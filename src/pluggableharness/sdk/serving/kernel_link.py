"""The way back to the kernel: KernelCallbackService over the channel that the broker announced.

Owns the channel, the batching of log entries, and the translation of gRPC's errors, which
happens here and nowhere else. Without a kernel entries go to stderr, one JSON line each in
go-plugin's form, and everything else says that there is none.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import grpc
import grpc.aio

from pluggableharness.sdk.callbacks import (
    CallRef,
    Emitted,
    EventKind,
    LogLevel,
    SessionOutcome,
    SessionRequest,
)
from pluggableharness.sdk.events import Failure
from pluggableharness.sdk.failures import (
    Category,
    ExecutionFailed,
    InvalidArguments,
    KernelUnavailable,
    NotFound,
    PermissionDenied,
    ToolFailure,
)
from pluggableharness.sdk.serving import messages
from pluggableharness.wire import common_pb2
from pluggableharness.wire.handshake import CALL_ID_METADATA
from pluggableharness.wire.structs import fill_struct

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from pluggableharness.wire import kernel_pb2

SERVICE: Final = "pluggableharness.kernel.v1.KernelCallbackService"
_SCHEMA_VERSION: Final = "1"
WAIT_S: Final = 5.0
"""How long a callback waits for the host to announce where it serves, as go-plugin does."""
_REPORT_S: Final = 5.0
"""The grace in which a cancelled call's report is taken (P26)."""
BATCH_S: Final = 0.05
_BATCH_ENTRIES: Final = 200
MAX_WAITING: Final = 10_000
"""Log entries kept for a kernel that does not take them; beyond it they go to stderr."""

_M = TypeVar("_M", bound="Message")


def reach_directly(network: str, address: str) -> str:
    """Return what a channel connects to for an announced address."""
    return f"unix:{address}" if network == "unix" else address


class _Entry:
    """A log entry on its way."""

    __slots__ = ("call", "fields", "level", "message", "time_ns")

    def __init__(
        self, call: CallRef, level: LogLevel, message: str, fields: Mapping[str, Any]
    ) -> None:
        self.call = call
        self.level = level
        self.message = message
        self.fields = fields
        self.time_ns = time.time_ns()


class KernelLink:
    """Implements `Callbacks` over gRPC."""

    def __init__(self, logger: str, reach: Callable[[str, str], str] = reach_directly) -> None:
        """`reach` turns an announced network and address into what a channel connects to."""
        self._logger = logger
        self._via = reach
        self._target = ""
        self._channel: grpc.aio.Channel | None = None
        self._announced = asyncio.Event()
        self._waiting: deque[_Entry] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None

    def announce(self, network: str, address: str) -> None:
        """Take the address under which the host serves the callbacks; the first one counts."""
        if not self._target:
            self._target = self._via(network, address)
            self._announced.set()

    def log(self, call: CallRef, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        """Take an entry; it leaves in a batch within 50 ms."""
        entry = _Entry(call, level, message, fields)
        if not self._target or len(self._waiting) >= MAX_WAITING:
            self._print(entry)
            return
        self._waiting.append(entry)
        if self._timer is None and self._flushing is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_S, self._start_flush)

    async def emit(
        self, call: CallRef, kind: EventKind, payload: bytes, schema_version: str
    ) -> Emitted:
        """Store an event of the call's session."""
        pb = _kernel_messages()
        request = pb.EmitRequest(
            session_id=call.session_id,
            kind=pb.EventKind.Value(f"EVENT_KIND_{kind.upper()}"),
            schema_version=schema_version,
            payload=payload,
        )
        answer = await self._ask("Emit", request, pb.EmitResult, call)
        return Emitted(answer.id, answer.sequence)

    async def run_session(self, call: CallRef, request: SessionRequest) -> SessionOutcome:
        """Run a child session to its end."""
        pb = _kernel_messages()
        message = _run_session_request(call, request)
        return _session_outcome(await self._ask("RunSession", message, pb.RunSessionResult, call))

    async def report_cancelled(self, call: CallRef, report: Mapping[str, Any]) -> None:
        """Tell what a cancelled call had done; that it fails is no one's business any more."""
        # Only a cancelled call needs these messages.
        from pluggableharness.wire.event_pb2 import ToolResultEvent

        failure = Failure(Category.CANCELLED, "cancelled", details=report)
        event = ToolResultEvent(tool_call_id=call.call_id, error=messages.tool_error(failure))
        try:
            async with asyncio.timeout(_REPORT_S):
                await self.emit(call, "tool_result", event.SerializeToString(), _SCHEMA_VERSION)
        except (KernelUnavailable, ToolFailure, TimeoutError) as error:
            lost = {"why": str(error), "report": report}
            self.log(call, "warn", "the report of a cancelled call was not taken", lost)

    async def close(self) -> None:
        """Send what waits, and close the channel."""
        if self._timer is not None:
            self._timer.cancel()
        if self._flushing is not None:
            await self._flushing
        await self._flush()
        if self._channel is not None:
            await self._channel.close()

    async def _ask(self, method: str, request: Message, answer: type[_M], call: CallRef) -> _M:
        """Make one callback; gRPC's errors become ours here."""
        channel = await self._reach()
        rpc = channel.unary_unary(
            f"/{SERVICE}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        try:
            result: _M = await rpc(request, metadata=((CALL_ID_METADATA, call.call_id),))
        except grpc.aio.AioRpcError as error:
            raise _translated(method, error) from None
        return result

    async def _reach(self) -> grpc.aio.Channel:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._announced.wait()
        except TimeoutError:
            pass
        if not self._target:
            raise KernelUnavailable(
                f"{self._logger} has no kernel to call back: the host announced no "
                f"KernelCallbackService within {WAIT_S:.0f} s"
            )
        if self._channel is None:
            self._channel = grpc.aio.insecure_channel(
                self._target,
                options=(
                    ("grpc.default_authority", "localhost"),
                    ("grpc.max_receive_message_length", messages.MAX_MESSAGE_BYTES),
                    ("grpc.max_send_message_length", messages.MAX_MESSAGE_BYTES),
                ),
            )
        return self._channel

    def _start_flush(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        while self._waiting:
            batch = _take_batch(self._waiting)
            try:
                await self._send_batch(batch)
            except (KernelUnavailable, ToolFailure):
                for entry in batch:
                    self._print(entry)
        self._flushing = None

    async def _send_batch(self, batch: Sequence[_Entry]) -> None:
        pb = _kernel_messages()
        request = pb.LogRequest(entries=[_entry_message(self._logger, entry) for entry in batch])
        if batch[0].call.session_id:
            request.session_id = batch[0].call.session_id
        await self._ask("Log", request, pb.LogResult, batch[0].call)

    def _print(self, entry: _Entry) -> None:
        line = {
            "@timestamp": _rfc3339(entry.time_ns),
            "@level": entry.level,
            "@module": self._logger,
            "@message": entry.message,
            **entry.fields,
        }
        print(json.dumps(line, default=repr), file=sys.stderr, flush=True)


def _kernel_messages() -> ModuleType:
    # Six modules of messages that a call without callbacks never touches.
    from pluggableharness.wire import kernel_pb2

    return kernel_pb2


def _take_batch(waiting: deque[_Entry]) -> list[_Entry]:
    """Take the entries that may share a request: those of one call, in their order."""
    batch = [waiting.popleft()]
    while waiting and len(batch) < _BATCH_ENTRIES and waiting[0].call == batch[0].call:
        batch.append(waiting.popleft())
    return batch


def _entry_message(logger: str, entry: _Entry) -> Message:
    # Loaded with the kernel's messages.
    from pluggableharness.wire import log_pb2

    message = log_pb2.LogEntry(
        level=f"LOG_LEVEL_{entry.level.upper()}",
        logger=logger,
        message=messages.unicode_text(entry.message),
    )
    message.time.FromNanoseconds(entry.time_ns)
    try:
        fill_struct(message.fields, entry.fields)
    except ValueError:
        # A field that JSON does not have is no reason to lose the entry.
        message.fields.Clear()
        fill_struct(message.fields, {key: repr(value) for key, value in entry.fields.items()})
    return message


def _run_session_request(call: CallRef, request: SessionRequest) -> Message:
    pb = _kernel_messages()
    message: Message = pb.RunSessionRequest(
        profile=request.profile,
        prompt=request.prompt,
        parent_session_id=call.session_id,
        remaining_depth=request.max_depth or 0,
        remaining_cost_budget_usd=request.max_cost_usd or 0.0,
        scoped_providers=[
            common_pb2.ProviderRef(category=common_pb2.CATEGORY_TOOL, name=name)
            for name in request.providers
        ],
    )
    return message


def _session_outcome(answer: kernel_pb2.RunSessionResult) -> SessionOutcome:
    # Loaded with the kernel's messages.
    from pluggableharness.wire.session_pb2 import SessionStatus

    # Any: the names are those that the field may have, and a kernel may be newer than we are.
    status: Any = SessionStatus.Name(answer.status).removeprefix("SESSION_STATUS_").lower()
    blocks = answer.final_message.content
    return SessionOutcome(
        session_id=answer.session_id,
        status=status,
        final_message="".join(block.text.text for block in blocks if block.HasField("text")),
        cost_usd=answer.total_cost_usd,
        input_tokens=answer.total_input_tokens,
        output_tokens=answer.total_output_tokens,
    )


_REFUSALS: Final[Mapping[grpc.StatusCode, type[ToolFailure]]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArguments,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.FAILED_PRECONDITION: PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ExecutionFailed,
    grpc.StatusCode.ABORTED: ExecutionFailed,
}


def _translated(method: str, error: grpc.aio.AioRpcError) -> Exception:
    text = error.details() or error.code().name
    refusal = _REFUSALS.get(error.code())
    if refusal is not None:
        return refusal(f"the kernel refused {method}: {text}")
    return KernelUnavailable(f"{method} did not reach the kernel: {error.code().name}: {text}")


def _rfc3339(time_ns: int) -> str:
    seconds, nanoseconds = divmod(time_ns, 10**9)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds // 1000:06}Z"
