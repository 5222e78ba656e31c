"""`google.protobuf.Struct` to and from plain JSON values, for the path that every call takes.

Hand-written because `json_format` is general: this takes about half its time, on small objects
less. What a Struct cannot carry unharmed is refused with the path of the value, so that
nothing is rounded or dropped on the way (P6). Imports protobuf and nothing of ours: the kernel's
codec and the SDK both stand on it.

The two walks carry no path. Only when one of them meets a value that it refuses is the path
looked for, in a second walk over the same input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct, Value

MAX_DEPTH: Final = 32
"""Nested objects and arrays, the outermost counted. Protobuf parsers stop at 100 messages, and
each object takes three of them; the rest is for the envelopes around a payload."""

MAX_EXACT_INTEGER: Final = 2**53
"""Beyond it a double, which is all that a Struct has, no longer tells integers apart."""

_LOWEST: Final = -MAX_EXACT_INTEGER
_HIGHEST: Final = MAX_EXACT_INTEGER

Path = tuple[str | int, ...]


class _Refused(Exception):
    """A walk met a value that it does not take; where, the second walk finds out."""


def to_struct(mapping: Mapping[str, Any]) -> Struct:
    """Return the Struct that holds `mapping`: JSON values, tuples standing for arrays.

    Raises:
        ValueError: a value that the wire would change or refuse: NaN, an infinity, an integer
            beyond 2^53, a lone surrogate, a key that is no string, a type that JSON does not
            have, more than `MAX_DEPTH` levels. The message starts with the path of the value.
    """
    struct = Struct()
    fill_struct(struct, mapping)
    return struct


def fill_struct(struct: Struct, mapping: Mapping[str, Any]) -> None:
    """Do what `to_struct` does with an empty Struct that already lies in a message.

    Saves the copy, and counts as set even when `mapping` is empty.

    Raises:
        ValueError: as `to_struct`.
    """
    struct.SetInParent()
    try:
        _fill_struct(struct, mapping, 1)
    except (_Refused, TypeError, UnicodeEncodeError):
        raise _explained(_unfit(mapping, (), 1)) from None


def from_struct(struct: Struct) -> dict[str, Any]:
    """Return what `struct` holds as JSON values; a number without a fraction becomes an int.

    Raises:
        ValueError: NaN, an infinity, an integer beyond 2^53, or a value that is not set. The
            message starts with the path of the value.
    """
    try:
        return _read_struct(struct)
    except _Refused:
        raise _explained(_unreadable(struct, ())) from None


def _fill_struct(struct: Struct, mapping: Mapping[str, Any], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Refused
    fields = struct.fields
    for key, value in mapping.items():
        if type(value) is str:
            fields[key].string_value = value
        else:
            _fill(fields[key], value, depth)


def _fill_list(target: ListValue, items: Sequence[Any], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Refused
    add = target.values.add
    for item in items:
        if type(item) is str:
            add().string_value = item
        else:
            _fill(add(), item, depth)


def _fill(slot: Value, value: Any, depth: int) -> None:
    kind = type(value)
    if kind is int or kind is float:
        # NaN compares false with everything, so it does not pass either.
        if not _LOWEST <= value <= _HIGHEST:
            raise _Refused
        slot.number_value = value
    elif kind is bool:
        slot.bool_value = value
    elif value is None:
        slot.null_value = 0  # type: ignore[assignment]  # NULL_VALUE, the only one there is
    elif kind is dict:
        inner = slot.struct_value
        if not value:
            inner.SetInParent()
        _fill_struct(inner, value, depth + 1)
    elif kind is list or kind is tuple:
        items = slot.list_value
        if not value:
            items.SetInParent()
        _fill_list(items, value, depth + 1)
    elif isinstance(value, str):
        slot.string_value = value
    else:
        _fill(slot, _plain(value), depth)


def _plain(value: Any) -> Any:
    """Return a value of a subclass or a look-alike as the JSON type that it stands for."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return list(value)
    raise _Refused


def _read_struct(struct: Struct) -> dict[str, Any]:
    result: dict[str, Any] = {}
    fields = struct.fields
    # Not items(): its pairs are made by Python code, which takes as long as all the rest.
    for key in fields:
        value = fields[key]
        # A value that is not the empty one of its type is the one that is set.
        text = value.string_value
        result[key] = text or _read(value)
    return result


def _read(value: Value) -> Any:
    number = value.number_value
    if number:
        if not _LOWEST <= number <= _HIGHEST:
            raise _Refused
        whole = int(number)
        return whole if whole == number else number
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        return [item.string_value or _read(item) for item in value.list_value.values]
    if kind == "struct_value":
        return _read_struct(value.struct_value)
    if kind == "bool_value":
        return value.bool_value
    if kind == "null_value":
        return None
    if kind == "number_value":
        return 0
    if kind == "string_value":
        return ""
    raise _Refused


def _explained(found: Iterator[tuple[Path, str]]) -> ValueError:
    path, problem = next(found)
    return ValueError(f"{path_text(path)}: {problem}" if path else problem)


def _unfit(value: Any, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    """Yield the path of each value that the wire would change or refuse, and why."""
    if isinstance(value, str):
        if not _is_unicode(value):
            yield path, "text with a lone surrogate, which is not Unicode"
    elif isinstance(value, (int, float)):
        yield from _unfit_number(value, path)
    elif isinstance(value, (Mapping, list, tuple)):
        if depth > MAX_DEPTH:
            yield path, f"more than {MAX_DEPTH} levels of objects and arrays"
        else:
            yield from _unfit_members(value, path, depth)
    elif value is not None:
        yield path, f"a {type(value).__name__} is no JSON value"


def _unfit_members(value: Any, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            if not isinstance(key, str):
                yield path, f"a key must be a string, got {key!r}"
            elif not _is_unicode(key):
                yield path, f"the key {key!a} holds a lone surrogate, which is not Unicode"
            else:
                yield from _unfit(member, (*path, key), depth + 1)
    else:
        for index, item in enumerate(value):
            yield from _unfit(item, (*path, index), depth + 1)


def _unfit_number(number: float, path: Path) -> Iterator[tuple[Path, str]]:
    if not isinstance(number, int) and not isfinite(number):
        yield path, f"{number} is no JSON number"
    elif not _LOWEST <= number <= _HIGHEST:
        # Every double of this size is whole, and stands for other integers as well.
        yield path, "a number beyond 2^53 would be rounded; send it as a string"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(struct: Struct, path: Path) -> Iterator[tuple[Path, str]]:
    for key in struct.fields:
        yield from _unreadable_value(struct.fields[key], (*path, key))


def _unreadable_value(value: Value, path: Path) -> Iterator[tuple[Path, str]]:
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        yield from _unfit_number(value.number_value, path)
    elif kind == "struct_value":
        yield from _unreadable(value.struct_value, path)
    elif kind == "list_value":
        for index, item in enumerate(value.list_value.values):
            yield from _unreadable_value(item, (*path, index))
    elif kind is None:
        yield path, "a value that is not set"


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as people write one: `edits[2].path`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
