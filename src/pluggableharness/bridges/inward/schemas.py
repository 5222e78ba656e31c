"""A JSON schema as the contract's subset, with nothing lost silently (P6).

What the subset has no word for is handled in one of three ways, the first that fits:

- a limit or a remark (a default, a format, a range) stands in the description, as JSON Schema;
- an object that takes more than it declares becomes an open map, whose description has the schema;
- anything else (alternatives, other types) becomes a string that holds the value as JSON text,
  whose description says so and has the schema. `values_of` reads it on the way to the server.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pluggableharness.sdk.failures import InvalidArguments
from pluggableharness.sdk.shapes import Kind, Limits, Shape

_DEEPEST: Final = 24
"""Levels of objects and arrays; below, JSON text says it. The contract allows 32 (P6)."""
_MOST_RESOLVED: Final = 8
"""References within references; a schema that holds itself comes to an end here."""

_PLAIN: Final = {
    "string": Kind.STRING,
    "number": Kind.NUMBER,
    "integer": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
}
_SAID: Final = frozenset(
    {"type", "title", "description", "properties", "required", "items", "enum", "const"}
    | {"$schema", "$id", "$defs", "definitions", "$comment", "additionalProperties"}
)
"""Keywords that the shape itself says, or that say nothing about values."""


class _Unsayable(Exception):
    """The subset has no shape for it."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """A schema's shape, and which of its places hold JSON text."""

    shape: Shape
    texts: "Texts"


Texts = Mapping[str, Any]
"""By name what lies below: True for JSON text, a mapping for an object, "[]" for items."""


def reduced(schema: Mapping[str, Any]) -> Reduced:
    """An object's schema in the subset; an open map where it cannot be said."""
    texts: dict[str, Any] = {}
    shape = _Reader(schema).object_of(schema, texts, 0, 0)
    return Reduced(shape, texts)


def values_of(arguments: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    """Arguments as the server takes them: JSON text read.

    Raises:
        InvalidArguments: a text is no JSON.
    """
    return {name: _value(value, texts.get(name), name) for name, value in arguments.items()}


def _value(value: Any, texts: Any, path: str) -> Any:
    if texts is True:
        try:
            return json.loads(value)
        except ValueError as error:
            raise InvalidArguments(
                f"{path} takes a value written as JSON, and this is none: {error}. A text has to "
                'stand in double quotes within it: "\\"like this\\""'
            ) from None
    if isinstance(texts, Mapping) and isinstance(value, Mapping):
        return {name: _value(one, texts.get(name), f"{path}.{name}") for name, one in value.items()}
    if isinstance(texts, Mapping) and isinstance(value, list):
        return [_value(one, texts.get("[]"), f"{path}[{n}]") for n, one in enumerate(value)]
    return value


class _Reader:
    """Reads one schema; `root` is where its references lead."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def object_of(
        self, schema: Mapping[str, Any], texts: dict[str, Any], depth: int, resolved: int
    ) -> Shape:
        """An object, closed over what it declares, or an open map."""
        properties = schema.get("properties") or {}
        more = schema.get("additionalProperties", False)
        if not properties or more is not False or not isinstance(properties, Mapping):
            lost = dict(schema) if properties else _remarks(schema, also="additionalProperties")
            return Shape(Kind.OBJECT, dict, description=_described(schema, lost))
        members: dict[str, Shape] = {}
        for name, inner in properties.items():
            below: dict[str, Any] = {}
            needed = name in schema.get("required", ())
            members[name] = self.member(inner, below, depth + 1, resolved, needed)
            if below:
                texts[name] = below.get("", below)
        required = tuple(name for name in schema.get("required", ()) if name in members)
        return Shape(
            Kind.OBJECT,
            dict,
            description=_described(schema, _remarks(schema)),
            properties=members,
            required=required,
            closed=True,
        )

    def member(
        self, schema: Any, texts: dict[str, Any], depth: int, resolved: int, needed: bool
    ) -> Shape:
        """What one value may be; `texts` gets "" where it is JSON text."""
        try:
            if depth > _DEEPEST or not isinstance(schema, Mapping):
                raise _Unsayable
            return self._sayable(self._without_null(schema, needed), texts, depth, resolved)
        except _Unsayable:
            texts.clear()
            texts[""] = True
            whole = self._with_definitions(schema)
            told = f"A value written as JSON, that fits this JSON Schema: {_json(whole)}"
            own = schema.get("description", "") if isinstance(schema, Mapping) else ""
            return Shape(Kind.STRING, str, description=f"{own}\n{told}" if own else told)

    def _sayable(
        self, schema: Mapping[str, Any], texts: dict[str, Any], depth: int, resolved: int
    ) -> Shape:
        if "$ref" in schema:
            target = self._target(schema, resolved)
            return self._sayable(self._without_null(target, True), texts, depth, resolved + 1)
        if "const" in schema and isinstance(schema["const"], str):
            schema = {**schema, "type": "string", "enum": [schema["const"]]}
        if any(word in schema for word in ("anyOf", "oneOf", "allOf", "not", "if", "$dynamicRef")):
            raise _Unsayable
        kind = schema.get("type", "string" if _is_words(schema.get("enum")) else None)
        if kind == "object":
            return self.object_of(schema, texts, depth, resolved)
        if kind == "array":
            return self._array(schema, texts, depth, resolved)
        if not isinstance(kind, str) or kind not in _PLAIN or not _listable(schema, kind):
            raise _Unsayable
        return Shape(
            _PLAIN[kind],
            str,
            description=_described(schema, _remarks(schema)),
            enum_values=tuple(dict.fromkeys(schema.get("enum", ()))),
            limits=Limits(whole=kind == "integer"),
        )

    def _array(
        self, schema: Mapping[str, Any], texts: dict[str, Any], depth: int, resolved: int
    ) -> Shape:
        if not isinstance(schema.get("items"), Mapping) or "prefixItems" in schema:
            raise _Unsayable
        below: dict[str, Any] = {}
        items = self.member(schema["items"], below, depth + 1, resolved, True)
        if below:
            texts["[]"] = below.get("", below)
        described = _described(schema, _remarks(schema))
        return Shape(Kind.ARRAY, list, description=described, items=items)

    def _without_null(self, schema: Mapping[str, Any], needed: bool) -> Mapping[str, Any]:
        """What remains of a value that may be null, where leaving it out says the same."""
        options = schema.get("anyOf", schema.get("oneOf"))
        kinds = schema.get("type")
        if needed or schema.get("default") is not None:
            return schema
        if isinstance(options, list) and len(options) == 2 and {"type": "null"} in options:
            (other,) = [one for one in options if one != {"type": "null"}]
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            rest.pop("default", None)
            return {**other, **rest} if isinstance(other, Mapping) else schema
        if isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds:
            (kind,) = [one for one in kinds if one != "null"]
            return {key: value for key, value in schema.items() if key != "default"} | {
                "type": kind
            }
        return schema

    def _target(self, schema: Mapping[str, Any], resolved: int) -> Mapping[str, Any]:
        """What a reference within the schema leads to, with what stands beside the reference."""
        path = schema["$ref"]
        if resolved >= _MOST_RESOLVED or not isinstance(path, str) or not path.startswith("#/"):
            raise _Unsayable
        found: Any = self._root
        for step in path[2:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or step not in found:
                raise _Unsayable
            found = found[step]
        if not isinstance(found, Mapping):
            raise _Unsayable
        return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}

    def _with_definitions(self, schema: Any) -> Any:
        """A schema with what its references lead to, so that it says all by itself."""
        if "$ref" not in _json(schema):
            return schema
        shared = {word: self._root[word] for word in ("$defs", "definitions") if word in self._root}
        return {**schema, **shared} if isinstance(schema, Mapping) else schema


def _listable(schema: Mapping[str, Any], kind: str) -> bool:
    """Whether the values that it is narrowed to, if any, can be listed: only texts can."""
    if kind == "string":
        return "enum" not in schema or _is_words(schema["enum"])
    return "enum" not in schema and "const" not in schema


def _is_words(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(v, str) for v in values)


def _remarks(schema: Mapping[str, Any], also: str = "") -> dict[str, Any]:
    """The keywords that a shape does not say."""
    return {
        word: value
        for word, value in schema.items()
        if word not in _SAID or (word == also and value is not False)
    }


def _described(schema: Mapping[str, Any], lost: Mapping[str, Any]) -> str:
    own = schema.get("description") or schema.get("title") or ""
    if not lost:
        return str(own)
    told = f"JSON Schema: {_json(lost)}"
    return f"{own} ({told})" if own else told


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
