"""Taking away what models write for "not given" (P8)."""

from collections.abc import Mapping

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.values import Json, JsonObject

_CONTAINERS = (SchemaType.OBJECT, SchemaType.ARRAY)


def without_nulls(schema: Schema, arguments: JsonObject) -> JsonObject:
    """The arguments without the nulls of optional declared properties, at every level (P8).

    Models write null for "not given". Nothing else is converted, and what holds no such null
    is returned as it is, uncopied.
    """
    return _pruned_object(schema, arguments)


def _pruned(schema: Schema, value: Json) -> Json:
    if schema.type is SchemaType.OBJECT and isinstance(value, dict | Mapping):
        return _pruned_object(schema, value)
    if schema.type is SchemaType.ARRAY and schema.items and isinstance(value, list | tuple):
        items = [_pruned(schema.items, item) for item in value]
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return items if changed else value
    return value


def _pruned_object(schema: Schema, value: JsonObject) -> JsonObject:
    changed: dict[str, Json] = {}
    dropped: list[str] = []
    for name, item in value.items():
        inner = schema.properties.get(name)
        if inner is None:
            continue
        if item is None:
            if name not in schema.required:
                dropped.append(name)
        elif inner.type in _CONTAINERS and (new := _pruned(inner, item)) is not item:
            changed[name] = new
    if not changed and not dropped:
        return value
    return {name: changed.get(name, item) for name, item in value.items() if name not in dropped}
