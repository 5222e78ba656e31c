"""Checking a value against a schema: the hot path of every call, twice."""

from collections.abc import Mapping
from math import inf

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.schema.nearest import nearest
from pluggableharness.kernel.schema.violation import (
    Path,
    Violation,
    label,
    path_text,
    quoted,
    shown,
)

MAX_VIOLATIONS = 50
"""Where looking ends: whoever reads fifty faults needs no more, and a hostile payload of
millions must not cost millions of explanations."""

MAX_DEPTH = 32
"""Containers within containers, the root counted; protobuf itself fails shortly above."""

_MAX_INTEGER = 2**53
"""The wire carries numbers as doubles, which hold every integer up to here."""

_OBJECT, _STRING, _NUMBER = SchemaType.OBJECT, SchemaType.STRING, SchemaType.NUMBER
_BOOLEAN, _ARRAY = SchemaType.BOOLEAN, SchemaType.ARRAY
"""Bound once: looking a member up in its enum costs more than the comparison."""

_NUMBERS = (int, float)
_OBJECTS = (dict, Mapping)
_ARRAYS = (list, tuple)
"""Tuples, since `int | float` builds a union each time it is passed."""

_NAMES = {
    _OBJECT: "an object",
    _STRING: "a string",
    _NUMBER: "a number",
    _BOOLEAN: "true or false",
    _ARRAY: "an array",
}


def violations(schema: Schema, value: object, *, closed: bool = True) -> tuple[Violation, ...]:
    """What keeps `value` from being a value of `schema`; empty when nothing does (P6, P8).

    `closed` refuses undeclared properties of objects that declare some, as arguments need;
    False allows them, as results need (P12). Whatever the schema leaves open must still be
    able to travel: JSON types, finite numbers, integers within ±2^53, text that is valid
    Unicode, at most 32 levels. Stops at MAX_VIOLATIONS.
    """
    walk = _Walk(closed)
    try:
        _check(schema, value, None, 0, walk)
    except _Enough:
        pass
    return tuple(walk.found)


class _Enough(Exception):
    """MAX_VIOLATIONS were found."""


class _Walk:
    """What one check carries along."""

    __slots__ = ("closed", "found")

    def __init__(self, closed: bool) -> None:
        self.closed = closed
        self.found: list[Violation] = []

    def add(self, path: Path, expected: str, got: str) -> None:
        self.found.append(Violation(path_text(path), expected, got))
        if len(self.found) >= MAX_VIOLATIONS:
            raise _Enough


def _check(schema: Schema, value: object, path: Path, depth: int, walk: _Walk) -> None:
    kind = schema.type
    if kind is _STRING:
        if type(value) is str and value.isascii() and not schema.enum_values:
            return
        _check_string(schema, value, path, walk)
    elif kind is _NUMBER:
        if isinstance(value, bool) or not isinstance(value, _NUMBERS):
            _mismatch(schema, value, path, walk)
        else:
            _check_number(value, path, walk)
    elif kind is _OBJECT:
        _check_object(schema, value, path, depth + 1, walk)
    elif kind is _ARRAY:
        _check_array(schema, value, path, depth + 1, walk)
    elif not isinstance(value, bool):
        _mismatch(schema, value, path, walk)


def _check_string(schema: Schema, value: object, path: Path, walk: _Walk) -> None:
    if not isinstance(value, str):
        _mismatch(schema, value, path, walk)
        return
    if not value.isascii():
        _check_text(value, path, walk)
    if schema.enum_values and value not in schema.enum_values:
        walk.add(path, expected_text(schema), shown(value))


def _check_text(value: str, path: Path, walk: _Walk) -> None:
    """Lone surrogates are no Unicode text: UTF-8, and so the wire, cannot hold them."""
    try:
        value.encode()
    except UnicodeEncodeError:
        walk.add(path, "text without lone surrogates", shown(value))


def _check_number(value: float, path: Path, walk: _Walk) -> None:
    """A float is its own exact value however large; an integer is what rounding would change."""
    if isinstance(value, int):
        if not -_MAX_INTEGER <= value <= _MAX_INTEGER:
            walk.add(path, "an integer within ±9007199254740992 (2^53)", shown(value))
    elif not -inf < value < inf:
        walk.add(path, "a finite number", shown(value))


def _check_object(schema: Schema, value: object, path: Path, depth: int, walk: _Walk) -> None:
    if not isinstance(value, _OBJECTS):
        _mismatch(schema, value, path, walk)
        return
    if _too_deep(depth, path, walk):
        return
    declared = schema.properties
    if not declared:
        _carry_items(value, path, depth, walk)
        return
    for name, item in value.items():
        inner = declared.get(name)
        if inner is None:
            _undeclared(schema, name, item, path, depth, walk)
        elif item is None:
            _null(schema, name, path, walk)
        else:
            _check(inner, item, (path, name), depth, walk)
    for name in schema.required:
        if name not in value:
            walk.add((path, name), _required_text(schema, name), "nothing")


def _check_array(schema: Schema, value: object, path: Path, depth: int, walk: _Walk) -> None:
    if not isinstance(value, _ARRAYS):
        _mismatch(schema, value, path, walk)
        return
    if _too_deep(depth, path, walk):
        return
    inner = schema.items
    for index, item in enumerate(value):
        if inner is None:
            _carry(item, (path, index), depth, walk)
        else:
            _check(inner, item, (path, index), depth, walk)


def _undeclared(
    schema: Schema, name: object, item: object, path: Path, depth: int, walk: _Walk
) -> None:
    if not walk.closed:
        _carry_items({name: item}, path, depth, walk)
        return
    text = label(name)
    near = nearest(text, schema.properties)
    expected = f"a declared property (nearest: {quoted(near or '')})"
    walk.add((path, text), expected, f"the unknown property {quoted(text)}")


def _null(schema: Schema, name: str, path: Path, walk: _Walk) -> None:
    """A null is a value of no type; on a required property it is the missing value itself."""
    if name in schema.required:
        walk.add((path, name), _required_text(schema, name), "null")
    else:
        walk.add((path, name), expected_text(schema.properties[name]), "null")


def _carry(value: object, path: Path, depth: int, walk: _Walk) -> None:
    """Check what no schema describes: that the wire can hold it unchanged."""
    if isinstance(value, str):
        if not value.isascii():
            _check_text(value, path, walk)
    elif value is None or isinstance(value, bool):
        pass
    elif isinstance(value, _NUMBERS):
        _check_number(value, path, walk)
    elif isinstance(value, _OBJECTS):
        if not _too_deep(depth + 1, path, walk):
            _carry_items(value, path, depth + 1, walk)
    elif isinstance(value, _ARRAYS):
        if not _too_deep(depth + 1, path, walk):
            for index, item in enumerate(value):
                _carry(item, (path, index), depth + 1, walk)
    else:
        walk.add(path, "a JSON value", shown(value))


def _carry_items(value: Mapping[object, object], path: Path, depth: int, walk: _Walk) -> None:
    for name, item in value.items():
        if not isinstance(name, str):
            walk.add((path, label(name)), "a string as the property's name", shown(name))
            continue
        at = (path, name)
        if not name.isascii():
            _check_text(name, at, walk)
        _carry(item, at, depth, walk)


def _too_deep(depth: int, path: Path, walk: _Walk) -> bool:
    if depth <= MAX_DEPTH:
        return False
    walk.add(path, f"at most {MAX_DEPTH} levels of nesting", "more")
    return True


def _mismatch(schema: Schema, value: object, path: Path, walk: _Walk) -> None:
    walk.add(path, expected_text(schema) + _unquoted(schema, value), shown(value))


def _unquoted(schema: Schema, value: object) -> str:
    """The right form, where a value came as text: models write "5" for 5 and "[]" for []."""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    looks_right = {
        _NUMBER: text.removeprefix("-").replace(".", "", 1).isdecimal() and text.isascii(),
        _BOOLEAN: text in ("true", "false"),
        _ARRAY: text.startswith("[") and text.endswith("]"),
        _OBJECT: text.startswith("{") and text.endswith("}"),
    }
    if not looks_right.get(schema.type, False):
        return ""
    short = len(text) <= 40 and text.isprintable()
    return f", written {text} without quotes" if short else ", not text that holds one"


def _required_text(schema: Schema, name: str) -> str:
    inner = schema.properties.get(name)
    return f"{expected_text(inner) if inner else 'a value'} (required)"


def expected_text(schema: Schema) -> str:
    """What a schema takes, in words: "a number", `one of "a", "b"`."""
    if not schema.enum_values:
        return _NAMES[schema.type]
    first = ", ".join(quoted(choice) for choice in schema.enum_values[:12])
    more = len(schema.enum_values) - 12
    return f"one of {first}" + (f" and {more} more" if more > 0 else "")
