"""Arguments of a call, checked against the author's types before the function runs (P8).

msgspec's C code decides and converts; only when it refuses does the explanation here walk the
shape, so that the caller reads of every wrong field at once: its path, what was expected and
what came. Nothing is converted to fit: "5" is no number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import asdict

from pluggableharness.sdk.failures import InvalidArguments
from pluggableharness.sdk.naming import LONGEST_VALUE, quoted, shown
from pluggableharness.sdk.schemas import limits_text
from pluggableharness.sdk.shapes import Kind, Shape
from pluggableharness.wire.masking import PLACEHOLDER

_MOST: Final = 20
"""Mistakes that are told at most."""


def without_nulls(shape: Shape, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the nulls of optional properties: a null there means "not given" (P8)."""
    return {
        name: value
        for name, value in arguments.items()
        if value is not None or name in shape.required or name not in shape.properties
    }


class ArgumentReader:
    """Reads the arguments of one operation; `defaults` are those of its optional parameters."""

    __slots__ = ("_nested", "_shape", "_target")

    def __init__(self, shape: Shape, defaults: Mapping[str, Any]) -> None:
        """Prepare the conversion.

        Raises:
            TypeError: msgspec cannot check one of the types as it is annotated.
        """
        self._shape = shape
        self._target = msgspec.defstruct(
            "Arguments",
            [_field(name, member, defaults) for name, member in shape.properties.items()],
            forbid_unknown_fields=True,
            kw_only=True,
        )
        # msgspec lets unknown properties of dataclasses pass; only a walk finds them.
        self._nested = any(map(_has_closed, shape.properties.values()))
        probe(self._target)

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every parameter, of the type that the author named.

        Raises:
            InvalidArguments: naming each bad field, what was expected and what came.
        """
        if not self._nested:
            try:
                return asdict(msgspec.convert(arguments, self._target))
            except msgspec.ValidationError:
                pass
        return self._read_slowly(arguments)

    def _read_slowly(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = without_nulls(self._shape, arguments)
        found = list(violations(self._shape, given, ""))
        if not found:
            try:
                return asdict(msgspec.convert(given, self._target))
            except msgspec.ValidationError as error:
                # What is left is what a class of the author's refuses, in __post_init__.
                found = [str(error)]
        raise refusal(found)


def refusal(found: list[str]) -> InvalidArguments:
    """Return the error that tells what is wrong with arguments or settings, not without end."""
    told = found if len(found) <= _MOST else [*found[:_MOST], f"and {len(found) - _MOST} more"]
    return InvalidArguments("; ".join(told), details={"violations": told})


def probe(target: Any) -> None:
    """Let msgspec look at a type now, and not when the first value comes.

    Raises:
        TypeError: it cannot check the type.
    """
    try:
        msgspec.convert({}, target)
    except msgspec.ValidationError:
        pass


def _field(name: str, shape: Shape, defaults: Mapping[str, Any]) -> Any:
    if name not in defaults:
        return name, shape.target
    default = defaults[name]
    # As Python has it: a default is one object for all calls, also where it is a list.
    return name, shape.target, msgspec.field(default_factory=lambda: default)


def _has_closed(shape: Shape) -> bool:
    return shape.closed or (shape.items is not None and _has_closed(shape.items))


def violations(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """Yield what is wrong with a value, each as `path: expected …, got …`."""
    if not _fits_kind(shape, value):
        # Cut short, a secret would no longer be known as one.
        got = PLACEHOLDER if shape.secret else shown(value)
        yield f"{path or 'arguments'}: expected {expected(shape)}, got {got}"
    elif shape.kind is Kind.OBJECT:
        yield from _object_violations(shape, value, path)
    elif shape.kind is Kind.ARRAY and shape.items is not None:
        if not _within(shape, len(value)):
            yield f"{path}: expected {expected(shape)}, got {len(value)} items"
        for index, item in enumerate(value):
            yield from violations(shape.items, item, f"{path}[{index}]")


def _object_violations(shape: Shape, value: Mapping[str, Any], path: str) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    # In the order of the declaration: a Struct has none of its own.
    for name, inner in shape.properties.items():
        if name in value:
            yield from violations(inner, value[name], f"{prefix}{name}")
        elif name in shape.required:
            yield f"{prefix}{name}: is required, and it is missing"
    for name in sorted(value.keys() - shape.properties.keys()):
        if shape.closed:
            shown_name = name if len(name) <= LONGEST_VALUE and name.isprintable() else quoted(name)
            yield f"{prefix}{shown_name}: {_unknown(name, shape)}"
        elif shape.items is not None:
            yield from violations(shape.items, value[name], f"{prefix}{name}")


def _unknown(name: str, shape: Shape) -> str:
    # 4 ms to import, and only a mistake needs it.
    import difflib

    near = difflib.get_close_matches(name[:LONGEST_VALUE], shape.properties, n=1, cutoff=0.5)
    if near:
        return f"is unknown; did you mean {near[0]}?"
    known = ", ".join(shape.properties) or "none at all"
    return f"is unknown; known are {known}"


def _fits_kind(shape: Shape, value: Any) -> bool:
    match shape.kind:
        case Kind.OBJECT:
            return isinstance(value, Mapping)
        case Kind.ARRAY:
            return isinstance(value, (list, tuple))
        case Kind.BOOLEAN:
            return isinstance(value, bool)
        case Kind.NUMBER:
            return _fits_number(shape, value)
        case Kind.STRING:
            return isinstance(value, str) and _fits_text(shape, value)


def _fits_number(shape: Shape, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    limits = shape.limits
    return not (
        (limits.whole and value != int(value))
        or (limits.ge is not None and value < limits.ge)
        or (limits.gt is not None and value <= limits.gt)
        or (limits.le is not None and value > limits.le)
        or (limits.lt is not None and value >= limits.lt)
    )


def _fits_text(shape: Shape, value: str) -> bool:
    if shape.enum_values:
        return value in shape.enum_values
    # 2 ms to import where nothing else has, and only a mistake needs it.
    import re

    pattern = shape.limits.pattern
    return _within(shape, len(value)) and (pattern is None or bool(re.search(pattern, value)))


def _within(shape: Shape, length: int) -> bool:
    low, high = shape.limits.min_length, shape.limits.max_length
    return (low is None or length >= low) and (high is None or length <= high)


def expected(shape: Shape) -> str:
    """Say what a shape admits: `a whole number, at least 1`."""
    if shape.enum_values:
        return "one of " + ", ".join(json.dumps(value) for value in shape.enum_values)
    limits = limits_text(shape)
    if shape.limits.whole:
        return f"a {limits}"
    noun = {
        Kind.OBJECT: "an object",
        Kind.STRING: "a string",
        Kind.NUMBER: "a number",
        Kind.BOOLEAN: "true or false",
        Kind.ARRAY: "a list",
    }[shape.kind]
    return f"{noun}, {limits}" if limits else noun
