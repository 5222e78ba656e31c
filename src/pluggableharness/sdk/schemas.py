"""Shapes as the wire's schemas (P6). Says nothing that the subset has no keyword for; what the
author's types say beyond it goes into the description, where the model can read it."""

from __future__ import annotations

from pluggableharness.sdk.shapes import Kind, Shape
from pluggableharness.wire.schema_pb2 import Schema, SchemaType

_TYPES = {
    Kind.OBJECT: SchemaType.SCHEMA_TYPE_OBJECT,
    Kind.STRING: SchemaType.SCHEMA_TYPE_STRING,
    Kind.NUMBER: SchemaType.SCHEMA_TYPE_NUMBER,
    Kind.BOOLEAN: SchemaType.SCHEMA_TYPE_BOOLEAN,
    Kind.ARRAY: SchemaType.SCHEMA_TYPE_ARRAY,
}


def schema_of(shape: Shape) -> Schema:
    """Return the wire schema of a shape."""
    return Schema(
        type=_TYPES[shape.kind],
        description=_described(shape),
        properties={name: schema_of(member) for name, member in shape.properties.items()},
        required=shape.required,
        items=schema_of(shape.items) if shape.items and shape.kind is Kind.ARRAY else None,
        enum_values=shape.enum_values,
    )


def _described(shape: Shape) -> str:
    """Return the description with the limits behind it: `Where to start (whole number, from 1)`."""
    limits = limits_text(shape)
    if not limits:
        return shape.description
    return f"{shape.description} ({limits})" if shape.description else limits


def limits_text(shape: Shape) -> str:
    """Say in a few words what the author's types ask for beyond the schema subset."""
    limits = shape.limits
    unit = "character" if shape.kind is Kind.STRING else "item"
    parts = [
        "whole number" if limits.whole else "",
        "" if limits.ge is None else f"at least {limits.ge}",
        "" if limits.gt is None else f"above {limits.gt}",
        "" if limits.le is None else f"at most {limits.le}",
        "" if limits.lt is None else f"below {limits.lt}",
        "" if limits.min_length is None else f"at least {_count(limits.min_length, unit)}",
        "" if limits.max_length is None else f"at most {_count(limits.max_length, unit)}",
        "" if limits.pattern is None else f"matching {limits.pattern}",
    ]
    return ", ".join(part for part in parts if part)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
