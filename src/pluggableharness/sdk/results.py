"""What a function returned, as the JSON object that goes into the result (P12, P32).

An encoder is compiled from the declared type once, when the provider is imported. It leaves
None out, and checks as it goes, so that a result that the kernel would refuse is told to the
author with the path of what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from pluggableharness.sdk.arguments import expected
from pluggableharness.sdk.failures import ResultMismatch
from pluggableharness.sdk.naming import shown
from pluggableharness.sdk.shapes import Kind, Shape

Encoder = Callable[[Any], Any]
"""Takes a value of the declared type, returns JSON values; raises `_Mismatch`."""


class _Mismatch(Exception):
    """What does not fit; each level above adds its step in front of the path."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = ""

    def under(self, step: str) -> _Mismatch:
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{dot}{self.path}"
        return self


def result_encoder(operation: str, shape: Shape) -> Callable[[Any], dict[str, Any]]:
    """Return the function that makes a payload of what `operation` returns.

    It raises `ResultMismatch` with the path, what was declared and what came.
    """
    encode = _encoder(shape)

    def payload(value: Any) -> dict[str, Any]:
        try:
            result: dict[str, Any] = encode(value)
        except _Mismatch as mismatch:
            where = f"{mismatch.path}: " if mismatch.path else ""
            raise ResultMismatch(
                f"{operation} returned what it does not declare: {where}{mismatch.problem}"
            ) from None
        return result

    return payload


def _encoder(shape: Shape) -> Encoder:
    match shape.kind:
        case Kind.OBJECT:
            return _record(shape) if shape.closed else _open_map(shape)
        case Kind.ARRAY:
            return _array(shape)
        case Kind.STRING:
            return _text(shape)
        case Kind.BOOLEAN:
            return _scalar(shape, bool)
        case Kind.NUMBER:
            return _scalar(shape, int) if shape.limits.whole else _number(shape)


def _wrong(shape: Shape, value: Any) -> _Mismatch:
    return _Mismatch(f"expected {expected(shape)}, got {shown(value)}")


def _scalar(shape: Shape, wanted: type) -> Encoder:
    def encode(value: Any) -> Any:
        if type(value) is wanted or (isinstance(value, wanted) and not isinstance(value, bool)):
            return value
        raise _wrong(shape, value)

    return encode


def _number(shape: Shape) -> Encoder:
    def encode(value: Any) -> Any:
        if isinstance(value, (float, int)) and not isinstance(value, bool):
            return value
        raise _wrong(shape, value)

    return encode


def _text(shape: Shape) -> Encoder:
    allowed = frozenset(shape.enum_values)

    def encode(value: Any) -> Any:
        if isinstance(value, str) and (not allowed or value in allowed):
            return value
        raise _wrong(shape, value)

    return encode


def _array(shape: Shape) -> Encoder:
    encode_item = _encoder(shape.items) if shape.items else _as_is

    def encode(value: Any) -> list[Any]:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
            raise _wrong(shape, value)
        items: list[Any] = []
        try:
            for item in value:
                items.append(encode_item(item))  # noqa: PERF401  # its length tells where it failed
        except _Mismatch as mismatch:
            raise mismatch.under(f"[{len(items)}]") from None
        return items

    return encode


def _open_map(shape: Shape) -> Encoder:
    encode_value = _encoder(shape.items) if shape.items else _as_is

    def encode(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _wrong(shape, value)
        return {key: encode_value(member) for key, member in value.items()}

    return encode


def _record(shape: Shape) -> Encoder:
    if is_dataclass(shape.core):
        return _dataclass(shape)
    encode = _members(shape, _item)

    def encode_mapping(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _wrong(shape, value)
        # The subset lets a result hold more than it declares (P12).
        return {**{k: v for k, v in value.items() if k not in shape.properties}, **encode(value)}

    return encode_mapping


def _dataclass(shape: Shape) -> Encoder:
    core = shape.core
    encode = _members(shape, getattr)

    def encode_dataclass(value: Any) -> dict[str, Any]:
        if not isinstance(value, core):
            raise _Mismatch(f"expected {core.__name__}, got {shown(value)}")
        return encode(value)

    return encode_dataclass


def _members(shape: Shape, take: Callable[[Any, str], Any]) -> Callable[[Any], dict[str, Any]]:
    members = tuple((name, _encoder(member)) for name, member in shape.properties.items())
    required = frozenset(shape.required)

    def encode(value: Any) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, encode_member in members:
            member = take(value, name)
            if member is not None:
                try:
                    result[name] = encode_member(member)
                except _Mismatch as mismatch:
                    raise mismatch.under(name) from None
            elif name in required:
                raise _Mismatch("is declared, and it is None or missing").under(name)
        return result

    return encode


def _item(value: Mapping[str, Any], name: str) -> Any:
    return value.get(name)


def _as_is(value: Any) -> Any:
    return value
