"""`google.protobuf.Struct` to and from plain JSON values, for the path that every call takes.

Hand-written because `json_format` is general and slow: on a small object this takes a third
of its time one way and half the other (`tests/unit/wire/test_structs.py` holds the two to the
same answers). What a Struct cannot carry unharmed is refused with the path of the value, so
that nothing is rounded or dropped on the way (P6). Imports protobuf and nothing of ours: the
kernel's codec and the SDK both stand on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct, Value

MAX_DEPTH: Final = 32
"""Nested objects and arrays, the outermost counted. Protobuf parsers stop at 100 messages, and
each object takes three of them; the rest is for the envelopes around a payload."""

MAX_EXACT_INTEGER: Final = 2**53
"""Beyond it a double, which is all that a Struct has, no longer tells integers apart."""


def to_struct(mapping: Mapping[str, Any]) -> Struct:
    """Return the Struct that holds `mapping`: JSON values, tuples standing for arrays.

    Raises:
        ValueError: a value that the wire would change or refuse: NaN, an infinity, an integer
            beyond 2^53, a lone surrogate, a key that is no string, a type that JSON does not
            have, more than `MAX_DEPTH` levels. The message starts with the path of the value.
    """
    struct = Struct()
    _fill_struct(struct, mapping, (), 1)
    return struct


def fill_struct(struct: Struct, mapping: Mapping[str, Any]) -> None:
    """Do what `to_struct` does with an empty Struct that already lies in a message.

    Saves the copy, and counts as set even when `mapping` is empty.

    Raises:
        ValueError: as `to_struct`.
    """
    struct.SetInParent()
    _fill_struct(struct, mapping, (), 1)


def from_struct(struct: Struct) -> dict[str, Any]:
    """Return what `struct` holds as JSON values; a number without a fraction becomes an int.

    Raises:
        ValueError: NaN, an infinity, an integer beyond 2^53, or a value that is not set.
    """
    return _read_struct(struct, ())


def _fill_struct(struct: Struct, mapping: Mapping[str, Any], path: _Path, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _error(path, f"more than {MAX_DEPTH} levels of objects and arrays")
    fields = struct.fields
    for key, value in mapping.items():
        kind = type(value)
        try:
            if kind is str:
                fields[key].string_value = value
            elif kind is bool:
                fields[key].bool_value = value
            else:
                _fill(fields[key], value, (*path, key), depth)
        except (TypeError, UnicodeEncodeError) as error:
            raise _bad_text(path, key, value, error) from None


def _fill(slot: Value, value: Any, path: _Path, depth: int) -> None:
    if isinstance(value, bool):
        slot.bool_value = value
    elif isinstance(value, int):
        if not -MAX_EXACT_INTEGER <= value <= MAX_EXACT_INTEGER:
            raise _error(path, "an integer beyond 2^53 would be rounded; send it as a string")
        slot.number_value = value
    elif isinstance(value, float):
        slot.number_value = _checked(value, path)
    elif isinstance(value, str):
        slot.string_value = value
    elif value is None:
        slot.null_value = 0  # type: ignore[assignment]  # NULL_VALUE, the only one there is
    elif isinstance(value, Mapping):
        # An empty object needs the oneof set even though nothing is filled in.
        slot.struct_value.SetInParent()
        _fill_struct(slot.struct_value, value, path, depth + 1)
    elif isinstance(value, (list, tuple)):
        slot.list_value.SetInParent()
        _fill_list(slot.list_value, value, path, depth + 1)
    else:
        raise _error(path, f"a {type(value).__name__} is no JSON value")


def _fill_list(target: ListValue, items: Sequence[Any], path: _Path, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _error(path, f"more than {MAX_DEPTH} levels of objects and arrays")
    add = target.values.add
    for index, item in enumerate(items):
        try:
            if type(item) is str:
                add().string_value = item
            else:
                _fill(add(), item, (*path, index), depth)
        except UnicodeEncodeError as error:
            raise _bad_text(path, index, item, error) from None


def _read_struct(struct: Struct, path: _Path) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in struct.fields.items():
        kind = value.WhichOneof("kind")
        if kind == "string_value":
            result[key] = value.string_value
        elif kind == "bool_value":
            result[key] = value.bool_value
        else:
            result[key] = _read(value, kind, (*path, key))
    return result


def _read(value: Value, kind: str | None, path: _Path) -> Any:
    if kind == "number_value":
        return _number(value.number_value, path)
    if kind == "string_value":
        return value.string_value
    if kind == "bool_value":
        return value.bool_value
    if kind == "struct_value":
        return _read_struct(value.struct_value, path)
    if kind == "list_value":
        return [
            _read(item, item.WhichOneof("kind"), (*path, index))
            for index, item in enumerate(value.list_value.values)
        ]
    if kind == "null_value":
        return None
    raise _error(path, "a value that is not set")


def _number(number: float, path: _Path) -> int | float:
    whole = _checked(number, path)
    return int(whole) if whole.is_integer() else whole


def _checked(number: float, path: _Path) -> float:
    """Return a number that both sides read alike, or raise with its path."""
    if -MAX_EXACT_INTEGER <= number <= MAX_EXACT_INTEGER:
        return number
    if not isfinite(number):
        raise _error(path, f"{number} is no JSON number")
    # Every double of this size is whole, so it stands for an integer that may have been another.
    raise _error(path, "an integer beyond 2^53 would be rounded; send it as a string")


_Path = tuple[str | int, ...]


def _bad_text(path: _Path, step: str | int, value: object, error: Exception) -> ValueError:
    if isinstance(error, UnicodeEncodeError):
        return _error(
            (*path, ascii(step)[1:-1] if isinstance(step, str) else step),
            "text with a lone surrogate, which is not Unicode",
        )
    return _error(path, f"a key must be a string, got {type(step).__name__}")


def _error(path: _Path, problem: str) -> ValueError:
    return ValueError(f"{path_text(path)}: {problem}" if path else problem)


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as people write one: `edits[2].path`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
