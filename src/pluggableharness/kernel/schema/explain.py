"""What is said of arguments that do not fit, to whoever gave them."""

from collections.abc import Sequence

from pluggableharness.kernel.domain.operation import Operation, Schema
from pluggableharness.kernel.schema.validate import MAX_VIOLATIONS, expected_text
from pluggableharness.kernel.schema.violation import Violation, quoted

_SIGNATURE = 30
"""Properties that the reminder at the end names at most."""


def explain(violations: Sequence[Violation], operation: Operation) -> str:
    """One message with every bad field and what the operation takes (P8, P16)."""
    lines = [f"{operation.full_name} did not run: its arguments do not fit its input schema."]
    lines += [f"- {violation}" for violation in violations]
    if len(violations) >= MAX_VIOLATIONS:
        lines.append("- and perhaps more: looking ended here")
    lines.append(f"It takes {_signature(operation.input_schema)}.")
    return "\n".join(lines)


def _signature(schema: Schema) -> str:
    if not schema.properties:
        return "any object"
    names = sorted(schema.properties, key=lambda name: name not in schema.required)
    parts = [_parameter(schema, name) for name in names[:_SIGNATURE]]
    more = len(names) - _SIGNATURE
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def _parameter(schema: Schema, name: str) -> str:
    optional = "" if name in schema.required else ", optional"
    shown = name if name.isidentifier() else quoted(name)
    return f"{shown} ({expected_text(schema.properties[name])}{optional})"
