"""Makes a provider's event stream well-formed, or an error (P10-P12, P15).

A pure state machine: raw events in, domain events and one outcome out. It believes nothing:
a Success leaves it only after a stream that kept the whole contract. Knows nothing of gRPC,
time or cancelling.
"""

from typing import Final

from google.protobuf.message import DecodeError

from pluggableharness.kernel.codec.tool import (
    CATEGORIES,
    OUTPUT_STREAMS,
    failure_from_wire,
    lead_up_from_wire,
)
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    Failure,
    LeadUp,
    Outcome,
    Success,
)
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.schema import violations
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.structs import from_struct

MAY_HAVE_HAPPENED: Final = "Its effect may have happened: look before you try again."
"""What every such error of a resource ends with (P12)."""

_TERMINAL = ("result", "error")

_SHOWN_BYTES = 16_384
"""Of an offending event, so that a huge one does not live on in the record."""

_parse = tool_pb2.InvokeResponse.FromString


class _Broken(Exception):
    """What the provider sent that it must not."""


class StreamGuard:
    """The grammar of one call's stream.

    Feed it every message with `event`, and ask `closed` once the stream has ended in order.
    """

    __slots__ = ("_breach", "_exited", "_last", "_operation", "_outcome")

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._outcome: Outcome | None = None
        self._breach: Failure | None = None
        self._exited = False
        self._last = b""

    @property
    def ended(self) -> bool:
        """Whether the terminal event was there."""
        return self._outcome is not None

    def event(self, data: bytes) -> LeadUp | None:
        """Take the next InvokeResponse as it came; return what a frontend may hear of it.

        None means that nothing more may come: it was the terminal event, or broke a rule.
        After a breach everything is ignored, so that a stream can be read to its end.
        """
        if self._breach is not None:
            return None
        try:
            return self._take(data)
        except _Broken as broken:
            self._breach = self._failure(f"it sent {broken}", data)
            return None

    def closed(self) -> Outcome:
        """Return the outcome of a stream that its server closed with status OK."""
        if self._breach is not None:
            return self._breach
        if self._outcome is None:
            return self._failure("the stream closed without a result or an error", None)
        return self._outcome

    def failed(self, status: str, message: str) -> Outcome:
        """Return the outcome of a stream that its server closed with an error's status."""
        if self._breach is not None:
            return self._breach
        when = "after" if self._outcome is not None else "without"
        rule = f"the stream ended with status {status} {when} a result or an error"
        return self._failure(rule, self._last or None, {"status": status, "message": message})

    def left_open(self, seconds: float) -> Outcome:
        """Return the outcome of a stream still open that long after its end or a breach."""
        if self._breach is not None:
            return self._breach
        rule = f"the stream was still open {seconds:g} s after its terminal event"
        return self._failure(rule, self._last)

    def _take(self, data: bytes) -> LeadUp | None:
        try:
            event = _parse(data).event
        except DecodeError as error:
            raise _Broken("an event that cannot be decoded") from error
        kind = event.WhichOneof("event")
        if self._outcome is not None:
            late = "a second terminal event" if kind in _TERMINAL else "an event after the end"
            raise _Broken(late)
        match kind:
            case "result":
                self._outcome = self._result(event.result)
            case "error":
                self._outcome = _error(event.error)
            case None:
                raise _Broken("an empty event")
            case _:
                return self._lead_up(kind, event)
        self._last = data
        return None

    def _lead_up(self, kind: str, event: tool_pb2.ToolEvent) -> LeadUp:
        problem = self._lead_up_problem(kind, event)
        if problem:
            raise _Broken(problem)
        self._exited |= kind == "exit_status"
        try:
            return lead_up_from_wire(event)
        except ValueError as error:
            raise _Broken(f"a partial result that is not JSON ({error})") from error

    def _lead_up_problem(self, kind: str, event: tool_pb2.ToolEvent) -> str:
        if not self._operation.streaming:
            return f"{kind} from an operation that declares streaming = false"
        match kind:
            case "output_chunk" if event.output_chunk.stream not in OUTPUT_STREAMS:
                return "output of an unspecified stream"
            case "exit_status" if self._exited:
                return "a second exit_status"
            case "progress" if event.progress.HasField("fraction_complete"):
                # Written so that NaN, which compares as false, is caught as well.
                fits = 0 <= event.progress.fraction_complete <= 1
                return "" if fits else "a fraction_complete outside 0..1"
            case _:
                return ""

    def _result(self, result: tool_pb2.ToolResult) -> Outcome:
        try:
            payload = from_struct(result.payload)
        except ValueError as error:
            return self._not_conforming([str(error)], {"text": _text(result.SerializeToString())})
        problems = violations(self._operation.output_schema, payload, closed=False)
        if problems:
            return self._not_conforming([str(problem) for problem in problems], payload)
        return Success(payload)

    def _failure(self, rule: str, data: bytes | None, more: JsonObject | None = None) -> Failure:
        details: dict[str, Json] = {"broken": rule, **(more or {})}
        if data is not None:
            details["event"] = _shown(data)
        return self._unknown(f"broke the event contract: {rule}.", details)

    def _not_conforming(self, problems: list[str], payload: JsonObject) -> Failure:
        what = f"returned a result that does not fit its output schema: {'; '.join(problems)}."
        return self._unknown(what, {"violations": problems, "payload": payload})

    def _unknown(self, what: str, details: JsonObject) -> Failure:
        message = f"{self._operation.full_name} {what}"
        if self._operation.kind is Kind.RESOURCE:
            message = f"{message} {MAY_HAVE_HAPPENED}"
        return Failure(ErrorCategory.UNKNOWN, message, details=details)


def _error(error: tool_pb2.ToolError) -> Failure:
    category = CATEGORIES.get(error.category)
    if category is None:
        raise _Broken("an error of an unspecified category")
    if category is ErrorCategory.PROCESS_CRASHED:
        raise _Broken("process_crashed, which only the kernel may say")
    try:
        return failure_from_wire(error)
    except ValueError as problem:
        raise _Broken(f"an error whose details are not JSON ({problem})") from problem


def _shown(data: bytes) -> str:
    """An event as text. Protobuf's own form, since JSON has no place for NaN or raw bytes."""
    if len(data) <= _SHOWN_BYTES:
        try:
            return str(_parse(data).event) or "(empty)"
        except DecodeError:
            pass
    return _text(data)


def _text(data: bytes) -> str:
    return f"{len(data)} bytes: {data[:_SHOWN_BYTES]!r}"
