"""What a deed is, by the contract's own words: written apart from the kernel, to judge it by.

Slow and plain on purpose; shares nothing with the kernel's stream guard and schema check.
"""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct, Value

from bench.survive.hostility import ARRAY, BOOLEAN, NUMBER, OBJECT, STRING, Deed
from pluggableharness.wire import schema_pb2, tool_pb2


def is_declaration(tool: tool_pb2.ToolSchema) -> bool:
    """Whether the kernel may believe it (P1, P6)."""
    reads = tool.kind == tool_pb2.TOOL_KIND_DATA_SOURCE
    fits = reads == (tool.risk == tool_pb2.RISK_CLASS_READ_ONLY)
    return fits and all(_is_schema(node) for node in _nodes(tool.output_schema))


def result(deed: Deed) -> dict[str, Any] | None:
    """The payload that the stream ends with when it keeps the whole contract, else None."""
    if deed.status != "OK" or not deed.messages:
        return None
    try:
        events = [tool_pb2.InvokeResponse.FromString(data).event for data in deed.messages]
    except DecodeError:
        return None
    *leads, last = events
    if leads and not deed.tool.streaming:
        return None
    exits = sum(event.HasField("exit_status") for event in leads)
    if exits > 1 or not all(map(_is_lead_up, leads)) or not last.HasField("result"):
        return None
    payload = last.result.payload
    if not _is_json(payload) or not _conforms(_plain(payload), deed.tool.output_schema):
        return None
    return _plain(payload)


def _nodes(schema: schema_pb2.Schema) -> Iterator[schema_pb2.Schema]:
    yield schema
    for inner in schema.properties.values():
        yield from _nodes(inner)
    if schema.HasField("items"):
        yield from _nodes(schema.items)


def _is_schema(node: schema_pb2.Schema) -> bool:
    return (
        node.type in (OBJECT, STRING, NUMBER, BOOLEAN, ARRAY)
        and node.HasField("items") == (node.type == ARRAY)
        and (not node.enum_values or node.type == STRING)
        and len(set(node.enum_values)) == len(node.enum_values)
        and (not node.properties or node.type == OBJECT)
        and all(name in node.properties for name in node.required)
    )


def _is_lead_up(event: tool_pb2.ToolEvent) -> bool:
    match event.WhichOneof("event"):
        case "output_chunk":
            return event.output_chunk.stream in (1, 2)
        case "progress":
            told = event.progress.HasField("fraction_complete")
            return not told or 0 <= event.progress.fraction_complete <= 1
        case "partial_result":
            return _is_json(event.partial_result.payload)
        case "exit_status":
            return True
        case _:
            return False


def _is_json(struct: Struct) -> bool:
    return all(map(_is_json_value, struct.fields.values()))


def _is_json_value(value: Value) -> bool:
    match value.WhichOneof("kind"):
        case None:
            return False
        case "number_value":
            number = value.number_value
            return isfinite(number) and (not number.is_integer() or abs(number) <= 2**53)
        case "struct_value":
            return _is_json(value.struct_value)
        case "list_value":
            return all(map(_is_json_value, value.list_value.values))
        case _:
            return True


def _plain(struct: Struct) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in struct.fields.items()}


def _plain_value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            return _plain(value.struct_value)
        case "list_value":
            return [_plain_value(item) for item in value.list_value.values]
        case "null_value" | None:
            return None
        case kind:
            return getattr(value, kind)


def _conforms(value: Any, schema: schema_pb2.Schema) -> bool:
    if schema.type == OBJECT:
        return (
            isinstance(value, dict)
            and all(name in value for name in schema.required)
            and all(
                _conforms(item, schema.properties[name])
                for name, item in value.items()
                if name in schema.properties
            )
        )
    if schema.type == ARRAY:
        return isinstance(value, list) and all(_conforms(item, schema.items) for item in value)
    if schema.type == STRING:
        allowed = not schema.enum_values or value in schema.enum_values
        return isinstance(value, str) and allowed
    if schema.type == BOOLEAN:
        return isinstance(value, bool)
    return isinstance(value, int | float) and not isinstance(value, bool)
