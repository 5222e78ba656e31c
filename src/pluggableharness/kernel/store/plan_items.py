"""A plan item as a row of its table: what a person saw, and what became of it (K9)."""

from typing import Any

from pluggableharness.kernel.codec.json_text import json_bytes
from pluggableharness.kernel.codec.render import render_to_wire
from pluggableharness.kernel.domain.plan import Applied, PlanItem


def plan_item_row(item: PlanItem, turn_id: str, applied: Applied | None) -> tuple[Any, ...]:
    """The values of PUT_PLAN_ITEM. Raises ValueError when a preview's action cannot travel."""
    call, verdict = item.call, item.verdict
    operation, downgraded = call.operation, verdict.downgraded_from
    return (
        item.id,
        turn_id,
        call.id,
        operation.provider,
        operation.name,
        operation.kind.value,
        operation.risk.value,
        operation.description,
        json_bytes(call.arguments).decode(),
        None if item.preview is None else render_to_wire(item.preview).SerializeToString(),
        verdict.decision.value,
        verdict.decided_by,
        verdict.reason,
        None if downgraded is None else downgraded.value,
        None if applied is None else applied.value,
    )
