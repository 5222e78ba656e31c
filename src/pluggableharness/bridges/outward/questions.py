"""What is asked at the gate as an MCP elicitation, and its result as an answer (K10, K35)."""

from enum import StrEnum
from typing import Final

from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.text import shown
from pluggableharness.kernel.frontends.words import value_line


class _Choice(StrEnum):
    ALLOW = "allow"
    FOR_SESSION = "allow for this session"
    DENY = "deny"


_WIDTH: Final = 100
_END_LINES: Final = 200
"""Of what is longer than two of them, so many lines are shown of either end."""

_FIELDS: Final = {
    SchemaType.STRING: "string",
    SchemaType.NUMBER: "number",
    SchemaType.BOOLEAN: "boolean",
}


def question(item: PlanItem, changed: str) -> ElicitRequest:
    """A plan item as a form: what would be shown at a terminal, and what may be answered."""
    choices = [one.value for one in _Choice if one is not _Choice.FOR_SESSION or item.scopes]
    covers = shown(item.scopes[0].covers) if item.scopes else ""
    held = f" '{_Choice.FOR_SESSION}' covers: {covers}" if covers else ""
    return _form(
        _message(item, changed),
        {
            "decision": {
                "type": "string",
                "enum": choices,
                "description": f"'{_Choice.ALLOW}' runs it once, exactly as shown.{held}",
            },
            "reason": {"type": "string", "description": "Why, for the model to read. Optional."},
        },
        "decision",
    )


def answer(item: PlanItem, result: ElicitResult) -> Answer:
    """What a person answered; whatever is no clear yes is a no."""
    if result.action != "accept":
        said = "declined" if result.action == "decline" else "dismissed the question"
        return Answer(False, f"the person {said}")
    content = result.content or {}
    reason = str(content.get("reason") or "")
    match content.get("decision"):
        case _Choice.ALLOW:
            return Answer(True, reason)
        case _Choice.FOR_SESSION if item.scopes:
            return Answer(True, reason, lasting=Lasting.SESSION, scope=item.scopes[0])
        case _Choice.DENY:
            return Answer(False, reason)
        case other:
            return Answer(False, f"the client sent no decision that was offered, but {other!r}")


def form_of(call: Call) -> ElicitRequest | None:
    """An interactive call as a form for its answer; None when its output is no flat object."""
    fields: dict[str, Json] = {}
    output = call.operation.output_schema
    for name, schema in output.properties.items():
        field = _field(schema)
        if field is not None:
            fields[name] = field
    if not fields or any(name not in fields for name in output.required):
        return None
    told = [f"{shown(name)}: {value_line(value)}" for name, value in call.arguments.items()]
    return _form("\n".join(told), fields, *output.required)


def answer_to(call: Call, result: ElicitResult) -> JsonObject | None:
    """The person's answer to an interactive call; None when they gave none."""
    if result.action != "accept" or result.content is None:
        return None
    wanted = call.operation.output_schema.properties
    return {name: value for name, value in result.content.items() if name in wanted}


def _form(message: str, properties: dict[str, Json], *required: str) -> ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _field(schema: Schema) -> dict[str, Json] | None:
    """A field of a form, which knows only plain values."""
    kind = _FIELDS.get(schema.type)
    if kind is None:
        return None
    field: dict[str, Json] = {"type": kind}
    if schema.description:
        field["description"] = schema.description
    if schema.enum_values:
        field["enum"] = list(schema.enum_values)
    return field


def _message(item: PlanItem, changed: str) -> str:
    """What the terminal shows of an item, as plain text: nothing in it can hide or pose."""
    # They import rich, 50 ms, which a connection that asks nothing does not need.
    from pluggableharness.kernel.frontends.drawing import Drawing
    from pluggableharness.kernel.frontends.looks import Looks
    from pluggableharness.kernel.frontends.question import item_lines

    call, verdict = item.call, item.verdict
    lines = [line.plain for line in item_lines(Drawing(Looks(), _WIDTH, whole=True), item)]
    hidden = len(lines) - 2 * _END_LINES
    if hidden > 0:
        lines[_END_LINES:-_END_LINES] = [f"… {hidden} lines that are not shown here …"]
    why = f"{verdict.decided_by}: {verdict.reason}" if verdict.reason else verdict.decided_by
    asker = f" for {shown(' > '.join(call.context.path))}" if call.context.path else ""
    risk = call.operation.risk.value.replace("_", " ")
    return "\n".join(
        [
            f"Allow {shown(call.operation.full_name)}{asker}? Risk: {risk}.",
            *([f"Asked again: {shown(changed)}"] if changed else []),
            *(f"│ {line}" for line in lines),
            f"Asked: {shown(why)}",
        ]
    )
