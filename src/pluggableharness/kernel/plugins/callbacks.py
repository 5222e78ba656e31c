"""What a provider may ask of the kernel: KernelCallbackService, one server for each process.

Who calls is known from the connection, since nobody else is told where this server listens
(P26, K28); a request's fields say only which of the process's own sessions it is about.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from pluggableharness.kernel.codec.child import child_end_to_wire, child_request_from_wire
from pluggableharness.kernel.codec.tool import failure_from_wire
from pluggableharness.kernel.domain.child import ChildEnd, ChildRefused, ChildRequest
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.outcome import ErrorCategory
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.plugins.flights import Flights, Forsaken
from pluggableharness.kernel.plugins.transport import CALLBACK_SERVICE, grpc_aio, new_server
from pluggableharness.wire import content_pb2, event_pb2, kernel_pb2, log_pb2
from pluggableharness.wire.handshake import CALL_ID_METADATA
from pluggableharness.wire.structs import from_struct

File = Callable[[str, Producer, EventKind, str, bytes], Awaitable[Event]]
"""Stores an event of a session: its id, the producer, kind, schema version and payload.

Raises HarnessError when it cannot be kept.
"""

RunChild = Callable[[ChildRequest], Coroutine[Any, Any, ChildEnd]]
"""Runs a child session to its end; raises ChildRefused."""


async def no_children(request: ChildRequest) -> ChildEnd:
    """The RunChild of a kernel that has no sessions."""
    raise ChildRefused(
        ErrorCategory.PERMISSION_DENIED,
        "this kernel cannot run child sessions; do the work in this one",
    )


_STATUSES: Final = {
    ErrorCategory.INVALID_ARGUMENTS: "INVALID_ARGUMENT",
    ErrorCategory.NOT_FOUND: "NOT_FOUND",
    ErrorCategory.PERMISSION_DENIED: "FAILED_PRECONDITION",
    ErrorCategory.EXECUTION_FAILED: "ABORTED",
}
"""The categories that a ChildRefused may have."""

_LEVELS: Final = {
    log_pb2.LOG_LEVEL_TRACE: logging.DEBUG,
    log_pb2.LOG_LEVEL_DEBUG: logging.DEBUG,
    log_pb2.LOG_LEVEL_INFO: logging.INFO,
    log_pb2.LOG_LEVEL_WARN: logging.WARNING,
    log_pb2.LOG_LEVEL_ERROR: logging.ERROR,
    log_pb2.LOG_LEVEL_FATAL: logging.CRITICAL,
}

_EVENT_KINDS: Final = {
    number: EventKind(name.removeprefix("EVENT_KIND_").lower())
    for name, number in kernel_pb2.EventKind.items()
    if number
}


class _Refused(Exception):
    """A request that is answered with an error's status, named as gRPC names it."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Callbacks:
    """The service as one process sees it.

    `producer` is what the kernel knows of that process; it is filled in once the process has
    described itself, which is before it has any call.
    """

    def __init__(
        self, producer: Producer, flights: Flights, file: File, run_child: RunChild = no_children
    ) -> None:
        self.producer = producer
        self._run_child = run_child
        self._flights = flights
        self._file = file
        self._log = logging.getLogger(f"pluggableharness.provider.{producer.name}")

    def new_server(self) -> Any:
        """Return the server of these callbacks, which listens nowhere yet."""
        grpc = grpc_aio()
        methods: dict[str, tuple[Callable[..., Awaitable[Message]], type[Message]]] = {
            "Emit": (self.emit, kernel_pb2.EmitRequest),
            "Log": (self.log, kernel_pb2.LogRequest),
            "CountTokens": (self.count_tokens, kernel_pb2.CountTokensRequest),
            "RunSession": (self.run_session, kernel_pb2.RunSessionRequest),
        }
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(_answering(method, request))
            for name, (method, request) in methods.items()
        }
        server = new_server()
        generic = grpc.method_handlers_generic_handler(CALLBACK_SERVICE, handlers)
        server.add_generic_rpc_handlers((generic,))
        return server

    async def emit(self, request: kernel_pb2.EmitRequest, call_id: str) -> kernel_pb2.EmitResult:
        """Store an event for a session that the process has a call of (K28)."""
        self._check_session(request.session_id)
        kind = _EVENT_KINDS.get(request.kind)
        if kind is None:
            raise _Refused("INVALID_ARGUMENT", f"Emit of a kind that is none: {request.kind}")
        if kind is EventKind.TOOL_RESULT:
            return self._take_report(request)
        if kind is EventKind.TOOL_CALL:
            # The rows of a call carry its provider as their producer: no other may look like them.
            raise _Refused("INVALID_ARGUMENT", "a call is filed by the kernel, which makes it")
        event = await self._file(
            request.session_id, self.producer, kind, request.schema_version, request.payload
        )
        return kernel_pb2.EmitResult(id=event.id, sequence=event.sequence)

    async def log(self, request: kernel_pb2.LogRequest, call_id: str) -> kernel_pb2.LogResult:
        """Join entries to the kernel's log, in the older form and the newer (K28)."""
        if request.session_id:
            self._check_session(request.session_id)
        single = [request.entry] if request.HasField("entry") else []
        for entry in (*single, *request.entries):
            self._log_entry(entry, request.session_id, call_id)
        return kernel_pb2.LogResult()

    async def count_tokens(
        self, request: kernel_pb2.CountTokensRequest, call_id: str
    ) -> kernel_pb2.CountTokensResult:
        """Estimate: a quarter of the UTF-8 bytes, rounded up (K28)."""
        count = -(-_size(request.content) // 4)
        return kernel_pb2.CountTokensResult(count=count, exact=False)

    async def run_session(
        self, request: kernel_pb2.RunSessionRequest, call_id: str
    ) -> kernel_pb2.RunSessionResult:
        """Run a child session to its end, for a call that waits for it meanwhile (K22)."""
        self._check_session(request.parent_session_id)
        callers = self._flights.callers(request.parent_session_id, call_id)
        if not callers:
            raise _Refused(
                "FAILED_PRECONDITION", "a child session needs a call that runs and waits for it"
            )
        child = child_request_from_wire(request, (flight.call.id for flight in callers))
        try:
            end = await self._flights.wait_for(self._run_child(child), callers)
        except ChildRefused as refused:
            raise _Refused(_STATUSES[refused.category], str(refused)) from None
        except Forsaken:
            raise _Refused("ABORTED", "the call that asked for this child has ended") from None
        return child_end_to_wire(end)

    def _check_session(self, session_id: str) -> None:
        if not self._flights.serves(session_id):
            raise _Refused(
                "PERMISSION_DENIED",
                f"{self.producer.name} has no call in session {in_quotes(session_id)}, so it may "
                "not speak for it",
            )

    def _take_report(self, request: kernel_pb2.EmitRequest) -> kernel_pb2.EmitResult:
        """Take what a cancelled call had done (P26); nothing else about a result is believed."""
        event = event_pb2.ToolResultEvent.FromString(request.payload)
        if event.WhichOneof("outcome") != "error":
            raise _Refused("INVALID_ARGUMENT", "a call that was cancelled has no result (P26)")
        report = failure_from_wire(event.error)
        if report.category is not ErrorCategory.CANCELLED:
            raise _Refused("INVALID_ARGUMENT", "the report of a cancelled call is `cancelled`")
        if not self._flights.report(event.tool_call_id, report):
            raise _Refused(
                "FAILED_PRECONDITION",
                f"call {in_quotes(event.tool_call_id)} is not one of yours that was cancelled in "
                "the last seconds; results travel in the call's own stream",
            )
        return kernel_pb2.EmitResult(id=event.tool_call_id)

    def _log_entry(self, entry: log_pb2.LogEntry, session_id: str, call_id: str) -> None:
        origin = {
            "provider": self.producer.name,
            "session_id": session_id,
            "call_id": call_id,
            "fields": from_struct(entry.fields),
        }
        self._log.log(_LEVELS.get(entry.level, logging.INFO), "%s", entry.message, extra=origin)


def _answering(
    method: Callable[..., Awaitable[Message]], request_type: type[Message]
) -> Callable[[bytes, Any], Awaitable[bytes]]:
    """Wrap a method into what gRPC calls: bytes in, bytes out, refusals as statuses."""

    async def answer(data: bytes, context: Any) -> bytes:
        statuses = grpc_aio().StatusCode
        try:
            request = request_type.FromString(data)
            return (await method(request, _call_id(context))).SerializeToString()
        except _Refused as refused:
            await context.abort(statuses[refused.status], str(refused))
        except (DecodeError, ValueError) as error:
            await context.abort(statuses.INVALID_ARGUMENT, str(error))
        except HarnessError as error:
            await context.abort(statuses.ABORTED, str(error))
        raise AssertionError("abort raises")

    return answer


def _call_id(context: Any) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == CALL_ID_METADATA:
            return value if isinstance(value, str) else ""
    return ""


def _size(blocks: Iterable[content_pb2.ContentBlock]) -> int:
    return sum(map(_block_size, blocks))


def _block_size(block: content_pb2.ContentBlock) -> int:
    match block.WhichOneof("block"):
        case "text":
            return len(block.text.text.encode())
        case "thinking":
            return len(block.thinking.text.encode())
        case "tool_result":
            return _size(block.tool_result.content)
        case _:
            return block.ByteSize()
