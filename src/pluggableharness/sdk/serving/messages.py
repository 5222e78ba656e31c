"""Values of the SDK as bytes of the wire. Knows nothing of RPCs.

An event's message is built and serialised in one step: the handlers of `tools` send bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from pluggableharness.sdk.callbacks import CallRef
from pluggableharness.sdk.calling import Call
from pluggableharness.sdk.events import (
    ExitStatus,
    Failure,
    LeadUp,
    OutputChunk,
    PartialResult,
    Progress,
    Result,
    Stream,
    Terminal,
)
from pluggableharness.sdk.failures import Category
from pluggableharness.sdk.operation import Operation, OperationKind
from pluggableharness.sdk.provider import Provider
from pluggableharness.sdk.schemas import schema_of
from pluggableharness.wire import common_pb2, tool_pb2
from pluggableharness.wire.handshake import APP_PROTOCOL_VERSION
from pluggableharness.wire.places import PLACES
from pluggableharness.wire.structs import fill_struct, from_struct

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest message that a provider takes or sends. A larger result ends as a failure."""

Metadata = Iterable[tuple[str, str | bytes]]
"""What came beside a request."""

_CATEGORIES: Final = {
    Category.INVALID_ARGUMENTS: tool_pb2.TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS,
    Category.NOT_FOUND: tool_pb2.TOOL_ERROR_CATEGORY_NOT_FOUND,
    Category.PERMISSION_DENIED: tool_pb2.TOOL_ERROR_CATEGORY_PERMISSION_DENIED,
    Category.EXECUTION_FAILED: tool_pb2.TOOL_ERROR_CATEGORY_EXECUTION_FAILED,
    Category.TIMEOUT: tool_pb2.TOOL_ERROR_CATEGORY_TIMEOUT,
    Category.CONCURRENCY_CONFLICT: tool_pb2.TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT,
    Category.CANCELLED: tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED,
    Category.UNKNOWN: tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN,
}
_KINDS: Final = {
    OperationKind.RESOURCE: tool_pb2.TOOL_KIND_RESOURCE,
    OperationKind.DATA_SOURCE: tool_pb2.TOOL_KIND_DATA_SOURCE,
    OperationKind.INTERACTIVE: tool_pb2.TOOL_KIND_INTERACTIVE,
}
_RISKS: Final = {
    "read_only": tool_pb2.RISK_CLASS_READ_ONLY,
    "low": tool_pb2.RISK_CLASS_LOW,
    "moderate": tool_pb2.RISK_CLASS_MODERATE,
    "high": tool_pb2.RISK_CLASS_HIGH,
    "critical": tool_pb2.RISK_CLASS_CRITICAL,
}
_STREAMS: Final = {
    "stdout": tool_pb2.OUTPUT_STREAM_STDOUT,
    "stderr": tool_pb2.OUTPUT_STREAM_STDERR,
}


def call_of(call: tool_pb2.ToolCall, metadata: Metadata = ()) -> Call:
    """Return what the kernel asks for.

    Raises:
        ValueError: the arguments hold what JSON does not, or the metadata are not ours.
    """
    context = call.call_context
    return Call(
        CallRef(call.id, context.session_id, context.turn_id),
        call.tool_name,
        from_struct(call.arguments),
        context.working_directory,
        _places(metadata),
    )


def _places(metadata: Metadata) -> dict[str, str]:
    """Return where the call's paths led when the kernel judged it; nothing if it does not say."""
    said = next((value for name, value in metadata if name == PLACES), None)
    if said is None:
        return {}
    places = json.loads(said)
    if not isinstance(places, dict):
        raise ValueError(f"{PLACES}: expected an object from paths to paths")
    return {str(path): str(real) for path, real in places.items()}


def lead_up(event: LeadUp) -> bytes:
    """Return an event as an InvokeResponse.

    Raises:
        ValueError: a payload holds what a Struct cannot carry.
    """
    if isinstance(event, OutputChunk):
        return output_chunk(event.data, event.stream)
    response = tool_pb2.InvokeResponse()
    match event:
        case Progress(message, fraction):
            response.event.progress.message = message
            if fraction is not None:
                response.event.progress.fraction_complete = fraction
        case PartialResult(payload):
            fill_struct(response.event.partial_result.payload, payload)
        case ExitStatus(code, signal):
            status = response.event.exit_status
            status.exit_code = code
            if signal is not None:
                status.signal = signal
    return response.SerializeToString()


def output_chunk(data: bytes, stream: Stream) -> bytes:
    """Return a chunk as an InvokeResponse, in the wire format itself.

    A message would copy the data twice, into itself and out again, and output is the one thing
    here that comes by the gigabyte (S9): this copies it once.
    """
    head = b"\x08%c\x12%b" % (_STREAMS[stream], _varint(len(data)))
    chunk = b"\x0a%b" % _varint(len(head) + len(data))
    event = b"\x0a%b" % _varint(len(chunk) + len(head) + len(data))
    return b"".join((event, chunk, head, data))


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def terminal(operation: str, event: Terminal) -> bytes:
    """Return the last event of a call as an InvokeResponse; one that cannot be sent says so."""
    try:
        encoded = _terminal(event)
    except ValueError as error:
        return _refusal(f"the result of {operation} cannot be sent: {error}")
    if len(encoded) > MAX_MESSAGE_BYTES:
        return _refusal(
            f"the result of {operation} takes {len(encoded)} bytes, more than the "
            f"{MAX_MESSAGE_BYTES} of a message: ask for less at a time"
        )
    return encoded


def _terminal(event: Terminal) -> bytes:
    response = tool_pb2.InvokeResponse()
    if isinstance(event, Result):
        fill_struct(response.event.result.payload, event.payload)
    else:
        response.event.error.CopyFrom(tool_error(event))
    return response.SerializeToString()


def _refusal(message: str) -> bytes:
    return _terminal(Failure(Category.UNKNOWN, message))


def tool_error(failure: Failure) -> tool_pb2.ToolError:
    """Return a failure's message. Details that JSON does not have are left out, and it says so."""
    error = tool_pb2.ToolError(
        category=_CATEGORIES[failure.category],
        message=unicode_text(failure.message),
        retryable=failure.retryable,
    )
    if failure.details is not None:
        try:
            fill_struct(error.details, failure.details)
        except ValueError as reason:
            # The failure matters more than what stands beside it.
            error.details.Clear()
            fill_struct(error.details, {"details_left_out": str(reason)})
    return error


def unicode_text(text: str) -> str:
    """Return a text that the wire takes: a lone surrogate in it is written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def get_schema_response(provider: Provider[Any]) -> bytes:
    """Return what GetSchema answers (P1)."""
    response = tool_pb2.GetSchemaResponse(
        tools=[tool_schema(operation) for operation in provider.operations.values()],
        config_schema=provider.settings.schema,
        supported_hook_points=sorted({_point_number(point) for point, _ in provider.hooks}),
    )
    # Maps have no order of their own: without this the same schema would give other bytes.
    return response.SerializeToString(deterministic=True)


def _point_number(point: str) -> Any:
    # The stubs want the enum's own class where the runtime has ints.
    return common_pb2.HookPoint.Value(f"HOOK_POINT_{point.upper().replace('-', '_')}")


def tool_schema(operation: Operation[..., Any]) -> tool_pb2.ToolSchema:
    """Return the declaration of an operation as the wire has it."""
    traits = operation.traits
    schema = tool_pb2.ToolSchema(
        name=operation.name,
        kind=_KINDS[traits.kind],
        risk=_RISKS[traits.risk],
        description=operation.description,
        input_schema=schema_of(operation.arguments),
        output_schema=schema_of(operation.result),
        streaming=traits.streaming,
        idempotent=traits.idempotent,
        terminates_turn=traits.terminates_turn,
    )
    if traits.kind is not OperationKind.INTERACTIVE:
        schema.concurrency.safe = traits.safe
        schema.concurrency.key_fields.extend(traits.key_fields)
        schema.concurrency.SetInParent()
    if traits.default_timeout is not None:
        schema.default_timeout.FromNanoseconds(round(traits.default_timeout * 1e9))
    return schema


def describe_response(provider: Provider[Any]) -> bytes:
    """Return what Describe answers (P30)."""
    producer = common_pb2.ProducerRef(
        name=provider.name,
        version=provider.version,
        source=f"python:{provider.module}",
        category=common_pb2.CATEGORY_TOOL,
        protocol_version=APP_PROTOCOL_VERSION,
    )
    return tool_pb2.DescribeResponse(producer=producer).SerializeToString()
