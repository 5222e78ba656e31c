"""The schema subset from the wire (P6). What may not be in one is `contract`'s matter."""

from pluggableharness.kernel.codec.enums import members
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.wire import schema_pb2

SCHEMA_TYPES = members(SchemaType, schema_pb2.SchemaType, "SCHEMA_TYPE")
"""The domain's type for each of the wire's numbers."""


def schema_from_wire(raw: schema_pb2.Schema) -> Schema:
    """Return a schema whose message passed the contract check.

    Properties are sorted by name, since their order on the wire differs from one process to
    the next and nothing may depend on it.
    """
    return Schema(
        type=SCHEMA_TYPES[raw.type],
        description=raw.description,
        properties={
            name: schema_from_wire(raw.properties[name]) for name in sorted(raw.properties)
        },
        required=tuple(raw.required),
        items=schema_from_wire(raw.items) if raw.HasField("items") else None,
        enum_values=tuple(raw.enum_values),
    )
