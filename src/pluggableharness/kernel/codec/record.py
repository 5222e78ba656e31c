"""Calls, outcomes, plans and what became of them as payloads of the record, and back (K27).

What the wire has a message for is stored as that message, serialized, with the schema
version EVENT_V1: a provider can render it, and any reader of the contract can read it.
Messages of the history are `record_messages`' matter, and the kernel's own kinds, which are
JSON, `record_facts`'.
"""

from collections.abc import Sequence

from pluggableharness.kernel.codec.enums import members, numbers
from pluggableharness.kernel.codec.json_text import unicode_text
from pluggableharness.kernel.codec.record_objects import (
    member,
    object_from_struct,
    object_to_struct,
    outcome_from_messages,
    outcome_to_message,
    parsed,
)
from pluggableharness.kernel.codec.render import render_from_wire, render_to_wire
from pluggableharness.kernel.codec.tool import KIND_NUMBERS, KINDS, RISK_NUMBERS, RISKS
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.plan import Applied, ApplyItem, Plan, PlanItem
from pluggableharness.kernel.domain.recorded import (
    RecordedApply,
    RecordedApplyItem,
    RecordedCall,
    RecordedOutcome,
    RecordedPlan,
    RecordedPlanItem,
)
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.wire import common_pb2, event_pb2, plan_pb2, tool_pb2

EVENT_V1 = "event.v1"
"""The schema version of rows whose payload is the message of `event.v1` for their kind."""

_DECISIONS = members(Decision, plan_pb2.PlanDecision, "PLAN_DECISION")
_DECISION_NUMBERS = numbers(Decision, plan_pb2.PlanDecision, "PLAN_DECISION")
_APPLIED = members(Applied, plan_pb2.ApplyResult.ApplyOutcome, "APPLY_OUTCOME")
_APPLIED_NUMBERS = numbers(Applied, plan_pb2.ApplyResult.ApplyOutcome, "APPLY_OUTCOME")


def call_payload(call: Call) -> bytes:
    """A ToolCallEvent; its provider is to be the producer of the row."""
    return event_pb2.ToolCallEvent(call=recorded_call(call)).SerializeToString()


def recorded_call(call: Call) -> tool_pb2.ToolCall:
    """The message of a call, whatever its texts hold."""
    context = call.context
    return tool_pb2.ToolCall(
        id=call.id,
        tool_name=call.operation.name,
        arguments=object_to_struct(call.arguments),
        call_context=common_pb2.CallContext(
            session_id=context.session_id,
            turn_id=context.turn_id,
            working_directory=unicode_text(context.working_directory),
        ),
    )


def read_call(payload: bytes) -> RecordedCall:
    """Read a ToolCallEvent. Raises ValueError for what this module did not write."""
    raw = parsed(event_pb2.ToolCallEvent(), payload).call
    context = raw.call_context
    return RecordedCall(
        raw.id,
        raw.tool_name,
        object_from_struct(raw.arguments),
        CallContext(context.session_id, context.turn_id, context.working_directory),
    )


def outcome_payload(call_id: str, outcome: Outcome) -> bytes:
    """A ToolResultEvent."""
    event = event_pb2.ToolResultEvent(tool_call_id=call_id)
    ended = outcome_to_message(outcome)
    if isinstance(ended, tool_pb2.ToolResult):
        event.result.CopyFrom(ended)
    else:
        event.error.CopyFrom(ended)
    return event.SerializeToString()


def read_outcome(payload: bytes) -> RecordedOutcome:
    """Read a ToolResultEvent. Raises ValueError for what this module did not write."""
    event = parsed(event_pb2.ToolResultEvent(), payload)
    failed = event.WhichOneof("outcome") != "result"
    return RecordedOutcome(
        event.tool_call_id,
        outcome_from_messages(failed, event.result, event.error),
    )


def plan_payload(plan: Plan) -> bytes:
    """A PlanEvent."""
    return event_pb2.PlanEvent(plan=plan_to_wire(plan)).SerializeToString()


def plan_to_wire(plan: Plan) -> plan_pb2.Plan:
    """The message of a plan."""
    return plan_pb2.Plan(turn_id=plan.turn_id, items=[_item_to_wire(item) for item in plan.items])


def read_plan(payload: bytes) -> RecordedPlan:
    """Read a PlanEvent. Raises ValueError for what this module did not write."""
    plan = parsed(event_pb2.PlanEvent(), payload).plan
    return RecordedPlan(plan.turn_id, tuple(_item_from_wire(item) for item in plan.items))


def apply_payload(turn_id: str, items: Sequence[ApplyItem]) -> bytes:
    """An ApplyEvent."""
    return event_pb2.ApplyEvent(result=apply_to_wire(turn_id, items)).SerializeToString()


def apply_to_wire(turn_id: str, items: Sequence[ApplyItem]) -> plan_pb2.ApplyResult:
    """The message of what came of a plan."""
    return plan_pb2.ApplyResult(
        turn_id=turn_id, items=[_apply_item_to_wire(item) for item in items]
    )


def read_apply(payload: bytes) -> RecordedApply:
    """Read an ApplyEvent. Raises ValueError for what this module did not write."""
    result = parsed(event_pb2.ApplyEvent(), payload).result
    return RecordedApply(
        result.turn_id, tuple(_apply_item_from_wire(item) for item in result.items)
    )


def _item_to_wire(item: PlanItem) -> plan_pb2.PlanItem:
    call, operation = item.call, item.call.operation
    return plan_pb2.PlanItem(
        id=item.id,
        tool_call_id=call.id,
        provider=operation.provider,
        tool_name=operation.name,
        input=object_to_struct(call.arguments),
        decision=_DECISION_NUMBERS[item.verdict.decision],
        decided_by=unicode_text(item.verdict.decided_by),
        kind=KIND_NUMBERS[operation.kind],
        risk=RISK_NUMBERS[operation.risk],
        description=operation.description,
        preview=None if item.preview is None else render_to_wire(item.preview),
    )


def _item_from_wire(raw: plan_pb2.PlanItem) -> RecordedPlanItem:
    return RecordedPlanItem(
        raw.id,
        raw.tool_call_id,
        raw.provider,
        raw.tool_name,
        object_from_struct(raw.input),
        member(KINDS, raw.kind),
        member(RISKS, raw.risk),
        raw.description,
        render_from_wire(raw.preview) if raw.HasField("preview") else None,
        member(_DECISIONS, raw.decision),
        raw.decided_by,
    )


def _apply_item_to_wire(item: ApplyItem) -> plan_pb2.ApplyResult.ApplyItem:
    raw = plan_pb2.ApplyResult.ApplyItem(
        plan_item_id=item.item.id,
        tool_call_id=item.item.call.id,
        outcome=_APPLIED_NUMBERS[item.applied],
    )
    ended = outcome_to_message(item.outcome)
    if isinstance(ended, tool_pb2.ToolResult):
        raw.tool_result.CopyFrom(ended)
    else:
        raw.tool_error.CopyFrom(ended)
    return raw


def _apply_item_from_wire(raw: plan_pb2.ApplyResult.ApplyItem) -> RecordedApplyItem:
    failed = raw.WhichOneof("result") != "tool_result"
    return RecordedApplyItem(
        raw.plan_item_id,
        raw.tool_call_id,
        member(_APPLIED, raw.outcome),
        outcome_from_messages(failed, raw.tool_result, raw.tool_error),
    )
