"""Operations as MCP tools, and outcomes as MCP results."""

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.library.tools import text_of

META = "pluggableharness/"
"""In front of every `_meta` key of ours."""

_UNDONE_EASILY = (Risk.READ_ONLY, Risk.LOW)


def as_tool(operation: Operation) -> Tool:
    """An operation as clients list it (K35).

    Kind and risk stand in the annotations, as far as MCP has words for them, and exactly in
    `_meta`. Whether an operation reaches beyond its machine is not declared, and not claimed.
    """
    return Tool(
        name=vendor_name(operation),
        title=operation.full_name,
        description=f"{operation.description}\n\n{_how_it_is_held(operation)}",
        input_schema=to_json_schema(operation.input_schema),
        output_schema=to_json_schema(operation.output_schema, closed=False),
        annotations=_annotations(operation),
        _meta={
            META + "operation": operation.full_name,
            META + "kind": operation.kind.value,
            META + "risk": operation.risk.value,
        },
    )


def as_result(outcome: Outcome, hint: str = "") -> CallToolResult:
    """An outcome as a client gets it; `hint` is added to what the model reads of an error."""
    text = text_of(outcome)
    if isinstance(outcome, Success):
        return CallToolResult(
            content=[TextContent(text=text)], structured_content=dict(outcome.payload)
        )
    error = {
        "category": outcome.category.value,
        "message": outcome.message,
        "retryable": outcome.retryable,
        "details": outcome.details,
    }
    shown = f"{text}\n{hint}" if hint else text
    return CallToolResult(
        content=[TextContent(text=shown)], is_error=True, _meta={META + "error": error}
    )


def _annotations(operation: Operation) -> ToolAnnotations:
    if operation.kind is not Kind.RESOURCE:
        return ToolAnnotations(title=operation.full_name, read_only_hint=True)
    return ToolAnnotations(
        title=operation.full_name,
        read_only_hint=False,
        destructive_hint=operation.risk not in _UNDONE_EASILY,
        idempotent_hint=operation.idempotent,
    )


def _how_it_is_held(operation: Operation) -> str:
    match operation.kind:
        case Kind.RESOURCE:
            risk = operation.risk.value
            return (
                f"This changes something ({risk} risk): rules or a person decide whether it runs."
            )
        case Kind.DATA_SOURCE:
            return "This only reads."
        case Kind.INTERACTIVE:
            return "This puts a question to the person."
