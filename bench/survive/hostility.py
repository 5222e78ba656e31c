"""Random declarations and event streams, right and wrong ones; each is made from its seed alone.

Both the hostile provider and who judges it make them here. Knows the wire and nothing of ours.
"""

import random
from dataclasses import dataclass
from typing import Any

from google.protobuf.struct_pb2 import Struct, Value

from pluggableharness.wire import schema_pb2, tool_pb2

OBJECT, STRING, NUMBER, BOOLEAN, ARRAY = range(1, 6)
_NAMES = ("a", "b", "ü", "long name", "")


@dataclass(frozen=True, slots=True)
class Deed:
    """What the provider does in one call: what it declared, what it sends, and how that ends.

    `status` names gRPC's status; OK is the orderly end.
    """

    tool: tool_pb2.ToolSchema
    messages: tuple[bytes, ...]
    status: str


def deed(seed: int) -> Deed:
    """The deed of a seed."""
    rng = random.Random(seed)
    tool = tool_pb2.ToolSchema(
        name="speak",
        kind=rng.choice((1, 2, 2)),  # type: ignore[arg-type]
        risk=rng.choice((1, 2)),  # type: ignore[arg-type]
        description="Says anything.",
        streaming=rng.random() < 0.7,
    )
    if tool.kind == tool_pb2.TOOL_KIND_DATA_SOURCE and rng.random() < 0.9:
        tool.risk = tool_pb2.RISK_CLASS_READ_ONLY
    elif tool.kind == tool_pb2.TOOL_KIND_RESOURCE and rng.random() < 0.9:
        tool.risk = tool_pb2.RISK_CLASS_LOW
    tool.input_schema.type = OBJECT  # type: ignore[assignment]
    _object(rng, tool.output_schema, 0)
    messages = tuple(_messages(rng, tool))
    status = "OK" if rng.random() < 0.9 else rng.choice(("INTERNAL", "UNAVAILABLE", "NOT_FOUND"))
    return Deed(tool, messages, status)


def _object(rng: random.Random, schema: schema_pb2.Schema, depth: int) -> None:
    schema.type = OBJECT  # type: ignore[assignment]
    names = rng.sample(_NAMES, rng.randint(0, 3))
    for name in names:
        _schema(rng, schema.properties[name], depth + 1)
    schema.required.extend(name for name in names if rng.random() < 0.5)
    if rng.random() < 0.02:
        schema.required.append("nowhere")


def _schema(rng: random.Random, schema: schema_pb2.Schema, depth: int) -> None:
    kind = rng.choice((STRING, STRING, NUMBER, BOOLEAN, ARRAY, OBJECT))
    if kind == OBJECT and depth < 4:
        _object(rng, schema, depth)
        return
    schema.type = STRING if kind == OBJECT else kind  # type: ignore[assignment]
    if schema.type == ARRAY and rng.random() < 0.97:
        _schema(rng, schema.items, depth + 1)
    if schema.type == STRING and rng.random() < 0.2:
        schema.enum_values.extend(("x", "y"))
    match rng.randint(0, 100):
        case 0:
            schema.type = 0  # type: ignore[assignment]
        case 1:
            schema.type = 9  # type: ignore[assignment]
        case 2:
            schema.enum_values.append("z")


def _messages(rng: random.Random, tool: tool_pb2.ToolSchema) -> list[bytes]:
    """A stream in order, to which in two of three cases something is then done."""
    leads = rng.randint(0, 3) if tool.streaming or rng.random() < 0.1 else 0
    events = [_lead_up(rng) for _ in range(leads)]
    events.append(_result(rng, tool) if rng.random() < 0.8 else _error(rng))
    messages = [
        tool_pb2.InvokeResponse(event=event).SerializeToString(deterministic=True)
        for event in events
    ]
    match rng.randint(0, 14):
        case 0:
            messages.pop()
        case 1:
            messages.append(rng.choice(messages))
        case 2:
            rng.shuffle(messages)
        case 3:
            messages.insert(rng.randint(0, len(messages)), rng.randbytes(rng.randint(0, 60)))
        case 4:
            at = rng.randrange(len(messages))
            messages[at] = _damaged(rng, messages[at])
    return messages


def _damaged(rng: random.Random, message: bytes) -> bytes:
    data = bytearray(message or b"\0")
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randint(1, len(data))] if rng.random() < 0.3 else data)


def _lead_up(rng: random.Random) -> tool_pb2.ToolEvent:
    event = tool_pb2.ToolEvent()
    match rng.randint(0, 3):
        case 0:
            event.output_chunk.stream = rng.choice((1, 1, 1, 2, 2, 2, 0, 7))  # type: ignore[assignment]
            event.output_chunk.data = rng.randbytes(rng.randint(0, 30))
        case 1:
            event.progress.message = "on it"
            if rng.random() < 0.5:
                fractions = (0.0, 0.5, 0.5, 0.5, 1.0, -0.1, 1.1, float("nan"))
                event.progress.fraction_complete = rng.choice(fractions)
        case 2:
            event.partial_result.payload.CopyFrom(_struct(rng, {"so far": _anything(rng)}))
        case _:
            event.exit_status.exit_code = rng.randint(-1, 200)
    return event


def _error(rng: random.Random) -> tool_pb2.ToolEvent:
    event = tool_pb2.ToolEvent()
    event.error.category = rng.choice((*range(1, 8), 9, 8, 0, 30))
    event.error.message = "no"
    if rng.random() < 0.3:
        event.error.details.CopyFrom(_struct(rng, {"why": _anything(rng)}))
    return event


def _result(rng: random.Random, tool: tool_pb2.ToolSchema) -> tool_pb2.ToolEvent:
    payload = _value(rng, tool.output_schema)
    event = tool_pb2.ToolEvent()
    event.result.payload.CopyFrom(_struct(rng, payload if isinstance(payload, dict) else {}))
    return event


def _value(rng: random.Random, schema: schema_pb2.Schema) -> Any:
    """A value of the schema, or with a small chance something else in its place."""
    if rng.random() < 0.03:
        return _anything(rng)
    match schema.type:
        case 1:
            return {
                name: _value(rng, inner)
                for name, inner in sorted(schema.properties.items(), key=lambda item: item[0])
                if rng.random() < (0.97 if name in schema.required else 0.5)
            }
        case 2:
            return rng.choice(schema.enum_values) if schema.enum_values else "text"
        case 3:
            return rng.choice((0, 1, 2.5, -7, 1e9))
        case 4:
            return rng.random() < 0.5
        case 5:
            return [_value(rng, schema.items) for _ in range(rng.randint(0, 3))]
        case _:
            return None


def _anything(rng: random.Random) -> Any:
    choices: tuple[Any, ...] = (
        "text",
        "",
        5,
        2.5,
        True,
        None,
        [],
        {},
        [1, "x"],
        {"k": None},
        float("nan"),
    )
    return rng.choice((*choices, float("inf"), 2.0**60))


def _struct(rng: random.Random, mapping: dict[str, Any]) -> Struct:
    """The mapping as it is, infinities and all, which no codec of ours would let pass."""
    struct = Struct()
    for name, value in mapping.items():
        _fill(struct.fields[name], value)
        if rng.random() < 0.01:
            struct.fields[name].Clear()
    return struct


def _fill(field: Value, value: Any) -> None:
    match value:
        case None:
            field.null_value = 0  # type: ignore[assignment]
        case bool():
            field.bool_value = value
        case int() | float():
            field.number_value = value
        case str():
            field.string_value = value
        case list():
            field.list_value.SetInParent()
            for item in value:
                _fill(field.list_value.values.add(), item)
        case dict():
            field.struct_value.SetInParent()
            for name, item in value.items():
                _fill(field.struct_value.fields[name], item)
