"""A result's payload for a person: its main part, and the rest as named values. No drawing.

The fallback where a provider does not draw its own results (P30). Which fields hold the main
part is a convention of the first-party operations; without one, the only list is it.
"""

from collections.abc import Mapping, Sequence

from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.render import (
    CodeBlockNode,
    GroupNode,
    RenderNode,
    TableNode,
    TextNode,
)
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.diffs import parse_unified
from pluggableharness.kernel.frontends.json_values import compact, pretty

_TEXTS = ("content", "output", "diff")


def main_field(payload: JsonObject) -> str | None:
    """The name of the field that a person called the operation for; None when all are alike."""
    texts = [name for name in _TEXTS if isinstance(payload.get(name), str)]
    said = next((name for name in texts if payload[name]), None)
    if said is not None:
        return said
    lists = [name for name, value in payload.items() if _is_list(value) and value]
    if len(lists) == 1:
        return lists[0]
    return texts[0] if texts else None


def in_order(payload: JsonObject, operation: Operation) -> JsonObject:
    """The payload with what every result has first, as its author wrote it, and the rest by name:
    the wire keeps no order."""
    required = [name for name in operation.output_schema.required if name in payload]
    return {name: payload[name] for name in dict.fromkeys((*required, *sorted(payload)))}


def as_lines(value: Json) -> str:
    """A main part as a pipe would have it, a list one item a line; the last line is ended."""
    if isinstance(value, str):
        return value if not value or value.endswith("\n") else value + "\n"
    if isinstance(value, Sequence):
        return "".join(f"{item if isinstance(item, str) else compact(item)}\n" for item in value)
    return compact(value) + "\n"


def as_node(name: str, value: Json) -> RenderNode:
    """A main part as something to draw: a diff, running text, lines, or a table."""
    if isinstance(value, str):
        diff = parse_unified(value) if name == "diff" else None
        return diff or TextNode(value)
    if isinstance(value, Sequence):
        return _table(value) or GroupNode(tuple(_line(item) for item in value))
    return CodeBlockNode(pretty(value), "json")


def _line(item: Json) -> RenderNode:
    return TextNode(item if isinstance(item, str) else compact(item))


def _table(items: Sequence[Json]) -> TableNode | None:
    """Flat objects as rows under the names of their fields, empty ones left out."""
    flat = [item for item in items if isinstance(item, Mapping) and not _nested(item)]
    if not flat or len(flat) < len(items):
        return None
    names = {name: None for item in flat for name, value in item.items() if _cell(value)}
    rows = tuple(tuple(_cell(item.get(name)) for name in names) for item in flat)
    return TableNode(tuple(names), rows)


def _nested(item: Mapping[str, Json]) -> bool:
    return any(isinstance(value, Mapping) or (_is_list(value) and value) for value in item.values())


def _cell(value: Json) -> str:
    if value is None or (_is_list(value) and not value):
        return ""
    return value if isinstance(value, str) else compact(value)


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
