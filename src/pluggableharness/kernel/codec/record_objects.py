"""JSON objects and outcomes in the messages of the record, whatever they hold.

A Struct holds no integers beyond 2^53, no more than 32 levels and no text that is not
Unicode, while a model may write all of that. An object that does not fit is kept as JSON
text under a reserved key, and what a model wrote that is no JSON object at all under
another; an object that happens to use such a key is kept as text too, so that reading is
never in doubt.
"""

from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.struct_pb2 import Struct

from pluggableharness.kernel.codec.json_text import json_bytes, json_value, unicode_text
from pluggableharness.kernel.codec.tool import failure_from_wire, failure_to_wire
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.structs import from_struct, to_struct

AS_TEXT = "pluggableharness.json"
"""The reserved key of an object that is kept as JSON text."""

AS_WRITTEN = "pluggableharness.text"
"""The reserved key of what a model wrote that is no JSON object."""

_TOO_DEEP = "(an object nested too deeply to be recorded)"

M = TypeVar("M", bound=Message)
V = TypeVar("V")


def object_to_struct(value: JsonObject | str) -> Struct:
    """A Struct for any object, or for the text that a model wrote in its place."""
    if isinstance(value, str):
        return to_struct({AS_WRITTEN: unicode_text(value)})
    if AS_TEXT not in value and AS_WRITTEN not in value:
        try:
            return to_struct(value)
        except ValueError:
            pass  # It does not fit: as text, then.
    try:
        return to_struct({AS_TEXT: json_bytes(value).decode()})
    except ValueError:
        return to_struct({AS_WRITTEN: _TOO_DEEP})


def written_from_struct(raw: Struct) -> JsonObject | str:
    """What `object_to_struct` was given. Raises ValueError for what it did not make."""
    value = from_struct(raw)
    if len(value) != 1:
        return value
    if AS_WRITTEN in value:
        return str(value[AS_WRITTEN])
    if AS_TEXT in value:
        return _as_object(json_value(str(value[AS_TEXT])))
    return value


def object_from_struct(raw: Struct) -> JsonObject:
    """As `written_from_struct`, where it cannot have been text; that it was is a ValueError."""
    return _as_object(written_from_struct(raw))


def outcome_to_message(outcome: Outcome) -> tool_pb2.ToolResult | tool_pb2.ToolError:
    """The message of how a call ended, whatever it holds."""
    if isinstance(outcome, Failure):
        return failure_to_wire(outcome)
    return tool_pb2.ToolResult(payload=object_to_struct(outcome.payload))


def outcome_from_messages(
    failed: bool, result: tool_pb2.ToolResult, error: tool_pb2.ToolError
) -> Outcome:
    """How a call ended, from the two sides of a oneof. Raises ValueError."""
    return failure_from_wire(error) if failed else Success(object_from_struct(result.payload))


def parsed(message: M, payload: bytes) -> M:
    """The message, filled from a payload. Raises ValueError."""
    try:
        message.ParseFromString(payload)
    except DecodeError as error:
        raise ValueError(f"no {type(message).__name__}: {error}") from None
    return message


def member(known: dict[int, V], number: int) -> V:
    """The domain's member for a number of the wire. Raises ValueError."""
    try:
        return known[number]
    except KeyError:
        raise ValueError(f"{number} stands for nothing here") from None


def _as_object(value: Any) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value
