"""One process under check: how it is reached, and everything that it ever said.

Unlike the supervisor's processes this one is asked before it is believed. It draws no
conclusions beyond what one answer was.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import DecodeError

from pluggableharness.kernel.codec.tool import call_to_wire
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.plugins.callbacks import Callbacks
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.flights import Flights
from pluggableharness.kernel.plugins.launch import StartFailed, launch
from pluggableharness.kernel.plugins.life import STOP_S
from pluggableharness.kernel.plugins.process import Connection
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.plugins.stream_guard import StreamGuard
from pluggableharness.kernel.plugins.transport import TOOL_SERVICE, grpc_aio, open_channel
from pluggableharness.kernel.private import PrivateDirectory
from pluggableharness.wire import content_pb2, event_pb2, kernel_pb2, session_pb2, tool_pb2

_ANSWER_S: Final = 10.0
"""How long one answer may take (K15)."""

CALL_S: Final = 5.0
"""A call that is not over by then is cancelled, and its report is owed."""

NOTICE_S: Final = 0.5
"""A broken connection and the death that broke it are noticed this far apart."""

SESSION: Final = "check"
_ANYTHING: Final = Schema(SchemaType.OBJECT)


class Gone(Exception):
    """The process has ended, or no longer answers; the message says how."""


@dataclass
class Stream:
    """What one call sent: each response as it came, and what the guard made of it."""

    call: Call
    responses: list[bytes] = field(default_factory=list)
    outcome: Outcome | None = None
    """None when the call did not end in time, or was cancelled before it had."""

    def events(self) -> Iterator[tool_pb2.ToolEvent]:
        """The events that can be decoded."""
        for data in self.responses:
            with contextlib.suppress(DecodeError):
                yield tool_pb2.InvokeResponse.FromString(data).event


class Probe:
    """The way into the process, and its record."""

    def __init__(self, connection: Connection, callbacks: "Heard", directory: Path) -> None:
        self.heard = callbacks
        self.directory = directory
        self._connection = connection
        self._numbers = count(1)
        self._invoke = connection.channel.unary_stream(f"{TOOL_SERVICE}Invoke")

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return not self._connection.life.death.done()

    async def ask(self, method: str, request: bytes = b"") -> bytes:
        """One answer of ToolService. Raises gRPC's error, or Gone when the process has ended."""
        rpc = self._connection.channel.unary_unary(f"{TOOL_SERVICE}{method}")
        try:
            answer: bytes = await rpc(request, timeout=_ANSWER_S)
        except grpc_aio().RpcError as error:
            await self._failed(error)
            raise
        self.heard.say(answer)
        return answer

    def call(self, operation: Operation, arguments: JsonObject) -> Call:
        """A call that nobody has made yet."""
        context = CallContext(SESSION, "check", str(self.directory))
        return Call(f"check-{next(self._numbers)}", operation, arguments, context)

    def unknown_operation(self, name: str) -> Operation:
        """An operation that is not declared, so that its calls can be made."""
        return Operation(
            "provider", name, Kind.DATA_SOURCE, Risk.READ_ONLY, "none", _ANYTHING, _ANYTHING, True
        )

    async def invoke(self, call: Call) -> Stream:
        """Make a call and read it to its end, or cancel it when that does not come in time."""
        rpc = self._start(call)
        stream = Stream(call)
        try:
            async with asyncio.timeout(CALL_S):
                stream.outcome = await self._read(rpc, stream)
        except TimeoutError:
            rpc.cancel()
        return stream

    async def cancelled(self, calls: Sequence[Call], within_s: float) -> None:
        """Make calls and cancel them all once the first says something, or so long after."""
        rpcs = [self._start(call) for call in calls]
        first = asyncio.ensure_future(rpcs[0].read())
        await asyncio.wait([first], timeout=within_s)
        for rpc in rpcs:
            rpc.cancel()
        await asyncio.gather(first, return_exceptions=True)
        if not self.alive:
            raise Gone(f"it {self._connection.life.words()}")

    def stderr(self) -> list[str]:
        """The last lines that it wrote."""
        return self._connection.life.stderr.lines()

    async def ended_when_asked(self) -> bool:
        """Ask it to end; whether it does within the time that the kernel gives it (K16)."""
        self._connection.broker.shutdown()
        return await self._connection.life.died(STOP_S)

    def _start(self, call: Call) -> Any:
        self.heard.calls[call.id] = call
        request = tool_pb2.InvokeRequest(call=call_to_wire(call))
        return self._invoke(request.SerializeToString())

    async def _failed(self, error: Any) -> None:
        """Note what an RPC failed with. Raises Gone when that was the process's end."""
        self.heard.say(str(error.details()).encode())
        life = self._connection.life
        # A lost connection is noticed before the death that caused it.
        patience = NOTICE_S if error.code() is grpc_aio().StatusCode.UNAVAILABLE else 0.0
        if await life.died(patience):
            raise Gone(f"it {life.words()}")

    async def _read(self, rpc: Any, stream: Stream) -> Outcome:
        guard = StreamGuard(stream.call.operation)
        try:
            async for data in rpc:
                self.heard.say(data)
                stream.responses.append(data)
                guard.event(data)
        except grpc_aio().RpcError as error:
            await self._failed(error)
            return guard.failed(error.code().name, error.details() or "")
        return guard.closed()


class Heard(Callbacks):
    """The kernel's callbacks as a check has them: everything is noted, and little believed."""

    def __init__(self) -> None:
        super().__init__(Producer("provider", category="tool"), _Open(lambda: 0.0), _file)
        self.said: list[bytes] = []
        self.calls: dict[str, Call] = {}
        self.reports: list[event_pb2.ToolResultEvent] = []
        self.reported = asyncio.Event()

    def say(self, data: bytes) -> None:
        """Note something that the provider said."""
        self.said.append(data)

    async def emit(self, request: kernel_pb2.EmitRequest, call_id: str) -> kernel_pb2.EmitResult:
        """Note an event; a report of a cancelled call apart."""
        self.say(request.SerializeToString())
        if request.kind == kernel_pb2.EVENT_KIND_TOOL_RESULT:
            self.reports.append(event_pb2.ToolResultEvent.FromString(request.payload))
            self.reported.set()
        return kernel_pb2.EmitResult(id="check", sequence=1)

    async def log(self, request: kernel_pb2.LogRequest, call_id: str) -> kernel_pb2.LogResult:
        """Note log entries."""
        self.say(request.SerializeToString())
        return kernel_pb2.LogResult()

    async def run_session(
        self, request: kernel_pb2.RunSessionRequest, call_id: str
    ) -> kernel_pb2.RunSessionResult:
        """Answer as if a child session had run, so that what asks for one can be seen on."""
        self.say(request.SerializeToString())
        text = content_pb2.ContentBlock(text=content_pb2.TextBlock(text="done"))
        return kernel_pb2.RunSessionResult(
            session_id="check-child",
            final_message=content_pb2.Message(
                role=content_pb2.ROLE_ASSISTANT, content=[text], id="check-message"
            ),
            status=session_pb2.SESSION_STATUS_COMPLETED,
        )


class _Open(Flights):
    """No call is in flight, and yet every session may be spoken for."""

    def serves(self, session_id: str) -> bool:
        """Whether it may."""
        return True


@asynccontextmanager
async def probing(spec: ProviderSpec, directory: Path) -> AsyncIterator[Probe]:
    """Start an executable and reach it, until the block ends; nothing of it is left then.

    Raises:
        ProviderLoadError: it did not come as far as its handshake.
    """
    place = PrivateDirectory()
    try:
        launched = await launch(spec, place)
    except StartFailed as error:
        raise ProviderLoadError(spec.name, [str(error)]) from error
    heard = Heard()
    server = heard.new_server()
    connection = Connection(launched, open_channel(launched.handshake.target), server)
    try:
        address = f"{place.path}/kernel"
        server.add_insecure_port(f"unix:{address}")
        await server.start()
        await connection.broker.announce(address)
        connection.broker.capture()
        yield Probe(connection, heard, directory)
    finally:
        await connection.close(0)


async def _file(
    session: str, producer: Producer, kind: EventKind, version: str, payload: bytes
) -> Event:
    raise AssertionError("Heard files nothing")
