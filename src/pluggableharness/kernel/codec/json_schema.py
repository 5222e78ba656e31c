"""The subset as ordinary JSON Schema, for models and for people's tools."""

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.values import Json


def to_json_schema(schema: Schema, *, closed: bool = True) -> dict[str, Json]:
    """The schema in JSON Schema's words, accepting what `violations` with `closed` accepts.

    It cannot say all: that integers stay within ±2^53, that text is Unicode and that
    nesting ends is checked by `violations` alone, since models follow none of it anyway.
    """
    out: dict[str, Json] = {"type": schema.type.value}
    if schema.description:
        out["description"] = schema.description
    if schema.enum_values:
        out["enum"] = list(dict.fromkeys(schema.enum_values))
    if schema.items is not None:
        out["items"] = to_json_schema(schema.items, closed=closed)
    if schema.type is SchemaType.OBJECT and schema.properties:
        out["properties"] = {
            name: to_json_schema(inner, closed=closed) for name, inner in schema.properties.items()
        }
        if closed:
            out["additionalProperties"] = False
    if schema.required:
        out["required"] = list(dict.fromkeys(schema.required))
    return out
