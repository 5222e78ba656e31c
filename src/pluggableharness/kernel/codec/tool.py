"""Operations, calls, events and outcomes to and from the wire.

What is read here has been found well-formed before: declarations by `contract`, events by
the stream guard. What is written here always fits the wire, failures above all: the record
of a failure must not itself fail.
"""

import json

from google.protobuf.struct_pb2 import Struct

from pluggableharness.kernel.codec.enums import members, numbers
from pluggableharness.kernel.codec.schema import schema_from_wire
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Concurrency, Kind, Operation, Risk
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    ExitStatus,
    Failure,
    LeadUp,
    OutputChunk,
    OutputStream,
    PartialResult,
    Progress,
)
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.places import PLACES, PLACES_BYTES
from pluggableharness.wire.structs import fill_struct, from_struct, to_struct

KINDS = members(Kind, tool_pb2.ToolKind, "TOOL_KIND")
KIND_NUMBERS = numbers(Kind, tool_pb2.ToolKind, "TOOL_KIND")
RISKS = members(Risk, tool_pb2.RiskClass, "RISK_CLASS")
RISK_NUMBERS = numbers(Risk, tool_pb2.RiskClass, "RISK_CLASS")
CATEGORIES = members(ErrorCategory, tool_pb2.ToolErrorCategory, "TOOL_ERROR_CATEGORY")
_CATEGORY_NUMBERS = numbers(ErrorCategory, tool_pb2.ToolErrorCategory, "TOOL_ERROR_CATEGORY")
OUTPUT_STREAMS = members(OutputStream, tool_pb2.OutputStream, "OUTPUT_STREAM")


def operation_from_wire(provider: str, raw: tool_pb2.ToolSchema) -> Operation:
    """Return the operation of a declaration that passed the contract check (P1)."""
    kind = KINDS[raw.kind]
    declared = raw.HasField("concurrency") and kind is not Kind.INTERACTIVE
    spec = raw.concurrency
    return Operation(
        provider=provider,
        name=raw.name,
        kind=kind,
        risk=RISKS[raw.risk],
        description=raw.description,
        input_schema=schema_from_wire(raw.input_schema),
        output_schema=schema_from_wire(raw.output_schema),
        streaming=raw.streaming,
        concurrency=Concurrency(spec.safe, tuple(spec.key_fields)) if declared else None,
        default_timeout_s=(
            raw.default_timeout.seconds + raw.default_timeout.nanos / 1e9
            if raw.HasField("default_timeout")
            else None
        ),
        idempotent=raw.idempotent,
        terminates_turn=raw.terminates_turn,
    )


def fill_call(raw: tool_pb2.ToolCall, call: Call) -> None:
    """Write a call into an empty message, mostly the field of another (P7, P9).

    Raises:
        ValueError: the arguments cannot travel (P6); the message names the path.
    """
    raw.id = call.id
    raw.tool_name = call.operation.name
    fill_struct(raw.arguments, call.arguments)
    raw.call_context.session_id = call.context.session_id
    raw.call_context.turn_id = call.context.turn_id
    raw.call_context.working_directory = call.context.working_directory


def call_to_wire(call: Call) -> tool_pb2.ToolCall:
    """Return the message of a call. Raises what `fill_call` raises."""
    raw = tool_pb2.ToolCall()
    fill_call(raw, call)
    return raw


def places_to_metadata(call: Call) -> tuple[tuple[str, bytes], ...] | None:
    """Return what goes beside a call's message: where its paths led when it was judged (K10a).

    Our SDK hands it to the provider, which then opens just these; any other ignores it. What a
    header has no room for stays behind; None is for nothing at all.
    """
    if not call.places:
        return None
    known = {path: real for path, real in call.places.items() if real}
    data = json.dumps(known).encode()
    return ((PLACES, data),) if known and len(data) <= PLACES_BYTES else None


def lead_up_from_wire(raw: tool_pb2.ToolEvent) -> LeadUp:
    """Return the domain's value of a well-formed event that is not terminal (P10).

    Raises:
        ValueError: a partial result holds what JSON does not know.
    """
    match raw.WhichOneof("event"):
        case "output_chunk":
            return OutputChunk(OUTPUT_STREAMS[raw.output_chunk.stream], raw.output_chunk.data)
        case "progress":
            progress = raw.progress
            known = progress.HasField("fraction_complete")
            return Progress(progress.message, progress.fraction_complete if known else None)
        case "partial_result":
            return PartialResult(from_struct(raw.partial_result.payload))
        case "exit_status":
            status = raw.exit_status
            return ExitStatus(
                status.exit_code, status.signal if status.HasField("signal") else None
            )
        case other:
            raise ValueError(f"no event before the terminal one: {other}")


def failure_to_wire(failure: Failure) -> tool_pb2.ToolError:
    """Return the message of a failure, whatever its details hold.

    Details that a Struct cannot carry become JSON text under the key `json`.
    """
    return tool_pb2.ToolError(
        category=_CATEGORY_NUMBERS[failure.category],
        message=failure.message.encode("utf-8", "backslashreplace").decode(),
        retryable=failure.retryable,
        details=None if failure.details is None else _details(failure.details),
    )


def failure_from_wire(raw: tool_pb2.ToolError) -> Failure:
    """Return a failure; a category that this side does not know is `unknown`.

    Raises:
        ValueError: the details hold what JSON does not know.
    """
    return Failure(
        category=CATEGORIES.get(raw.category, ErrorCategory.UNKNOWN),
        message=raw.message,
        retryable=raw.retryable,
        details=from_struct(raw.details) if raw.HasField("details") else None,
    )


def _details(details: JsonObject) -> Struct:
    try:
        return to_struct(details)
    except ValueError:
        return to_struct({"json": json.dumps(details, default=repr)})
