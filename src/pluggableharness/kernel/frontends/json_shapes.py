"""News as JSON objects (K33): the names and shapes that docs/reference/json-events.md promises.

Pure. Output chunks are not here, since what they become depends on the chunk before.
"""

from typing import assert_never

from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.message import Message, Usage
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallRefused,
    CallStarted,
    ItemDecided,
    MessageArrived,
    Notice,
    PlanApplied,
    PlanReady,
    SessionEnded,
    SessionStarted,
    TextDelta,
)
from pluggableharness.kernel.domain.outcome import (
    ExitStatus,
    Failure,
    Outcome,
    PartialResult,
    Progress,
    Success,
)
from pluggableharness.kernel.domain.plan import PlanItem
from pluggableharness.kernel.domain.render import (
    ActionNode,
    CodeBlockNode,
    CollapsibleNode,
    DiffNode,
    GroupNode,
    LinkNode,
    ListNode,
    RenderNode,
    SubSessionNode,
    TableNode,
    TextNode,
)
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.domain.verdict import Verdict

_EVENTS_VERSION = 1
"""Grows when a type or a field goes, or means something else; what is added changes nothing."""

Shape = dict[str, Json]

Whole = (
    SessionStarted
    | TextDelta
    | MessageArrived
    | CallRefused
    | CallStarted
    | CallEnded
    | PlanReady
    | ItemDecided
    | PlanApplied
    | Notice
    | SessionEnded
)
"""News that is one line, whatever came before."""


def shape(news: Whole) -> Shape:
    """The object for a piece of news."""
    match news:
        # The commonest first: a replay tells many thousands (S13).
        case CallStarted():
            return {
                "type": "call_started",
                **_call(news.call),
                "deadline_s": _number(news.call.deadline_s),
            }
        case CallEnded():
            return outcome(news.call.id, news.outcome)
        case SessionStarted():
            return {
                "type": "session_started",
                "events_version": _EVENTS_VERSION,
                "session_id": news.session_id,
                "model": news.model,
                "working_directory": news.working_directory,
            }
        case TextDelta():
            return {"type": "text_delta", "turn_id": news.turn_id, "text": news.text}
        case MessageArrived():
            return {
                "type": "message",
                "turn_id": news.turn_id,
                **_message(news.message),
                **_used(news.usage, news.cost_usd),
            }
        case CallRefused():
            return {"type": "call_refused", "turn_id": news.turn_id, **_refused(news.refused)}
        case PlanReady():
            items = [_item(item) for item in news.plan.items]
            return {"type": "plan", "turn_id": news.plan.turn_id, "items": items}
        case ItemDecided():
            ids: Shape = {"item_id": news.item.id, "call_id": news.item.call.id}
            return {"type": "decision", **ids, **_verdict(news.verdict)}
        case PlanApplied():
            ends: list[Json] = [
                {"item_id": end.item.id, "call_id": end.item.call.id, "applied": end.applied.value}
                for end in news.items
            ]
            return {"type": "plan_applied", "turn_id": news.turn_id, "items": ends}
        case Notice():
            return {"type": "notice", "level": news.level, "message": news.message}
        case SessionEnded():
            return {
                "type": "session_ended",
                "session_id": news.end.session_id,
                "status": news.end.status.value,
                "reason": news.end.reason,
                "final_text": news.end.final_text,
                "log_head": news.log_head,
            }
        case _:
            assert_never(news)


def lead_up(call_id: str, event: Progress | PartialResult | ExitStatus) -> Shape:
    """The object for what a running call reports, output aside."""
    match event:
        case Progress():
            return {
                "type": "progress",
                "call_id": call_id,
                "message": event.message,
                "fraction_complete": event.fraction,
            }
        case PartialResult():
            return {"type": "partial_result", "call_id": call_id, "payload": event.payload}
        case ExitStatus():
            return {
                "type": "exit_status",
                "call_id": call_id,
                "exit_code": event.exit_code,
                "signal": event.signal,
            }
        case _:
            assert_never(event)


def outcome(call_id: str, ended: Outcome) -> Shape:
    """The object that ends a call: `result` or `error`."""
    match ended:
        case Success():
            return {"type": "result", "call_id": call_id, "payload": ended.payload}
        case Failure():
            return {"type": "error", "call_id": call_id, **_failure(ended)}
        case _:
            assert_never(ended)


def node(drawn: RenderNode) -> Shape:
    """A render tree; every node says its type."""
    match drawn:
        case TextNode():
            return {"type": "text", "content": drawn.content, "style": drawn.style.value}
        case CodeBlockNode():
            return {"type": "code_block", "content": drawn.content, "language": drawn.language}
        case DiffNode():
            return {"type": "diff", "hunks": _hunks(drawn)}
        case TableNode():
            return {"type": "table", "headers": drawn.headers, "rows": drawn.rows}
        case LinkNode():
            return {"type": "link", "text": drawn.text, "url": drawn.url}
        case ListNode():
            items = [node(item) for item in drawn.items]
            return {"type": "list", "ordered": drawn.ordered, "items": items}
        case GroupNode():
            return {"type": "group", "children": [node(child) for child in drawn.children]}
        case CollapsibleNode():
            return {
                "type": "collapsible",
                "summary": drawn.summary,
                "collapsed_by_default": drawn.collapsed_by_default,
                "children": [node(child) for child in drawn.children],
            }
        case SubSessionNode():
            return {
                "type": "sub_session",
                "session_id": drawn.session_id,
                "summary": drawn.summary,
            }
        case ActionNode():
            return {
                "type": "action",
                "id": drawn.id,
                "label": drawn.label,
                "provider": drawn.provider,
                "operation": drawn.tool_name,
                "arguments": drawn.arguments,
            }
        case _:
            assert_never(drawn)


def _hunks(diff: DiffNode) -> list[Json]:
    return [
        {
            "old_start": hunk.old_start,
            "old_lines": hunk.old_lines,
            "new_start": hunk.new_start,
            "new_lines": hunk.new_lines,
            "lines": [{"op": line.op.value, "text": line.text} for line in hunk.lines],
        }
        for hunk in diff.hunks
    ]


def _message(message: Message) -> Shape:
    calls: list[Json] = [
        {"tool_use_id": call.tool_use_id, "name": call.name, "arguments": call.arguments}
        for call in message.calls
    ]
    return {"message_id": message.id, "text": message.text, "calls": calls}


def _used(usage: Usage, cost_usd: float) -> Shape:
    tokens: Shape = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {"usage": tokens, "cost_usd": _number(cost_usd)}


def _refused(refused: RefusedCall) -> Shape:
    return {
        "call_id": refused.id,
        "tool_use_id": refused.tool_use_id,
        "name": refused.name,
        "arguments": refused.arguments,
        **_failure(refused.failure),
    }


def _failure(failure: Failure) -> Shape:
    return {
        "category": failure.category.value,
        "message": failure.message,
        "retryable": failure.retryable,
        "details": failure.details,
    }


def _call(call: Call) -> Shape:
    return {
        "call_id": call.id,
        "turn_id": call.context.turn_id,
        "tool_use_id": call.tool_use_id,
        "provider": call.operation.provider,
        "operation": call.operation.name,
        "kind": call.operation.kind.value,
        "risk": call.operation.risk.value,
        "arguments": call.arguments,
    }


def _number(value: float | None) -> float | None:
    """Mostly a whole one, which is quicker to write when it is no fraction (S13)."""
    return value if value is None or value % 1 else int(value)


def _item(item: PlanItem) -> Shape:
    return {
        "item_id": item.id,
        **_call(item.call),
        "description": item.call.operation.description,
        "preview": node(item.preview) if item.preview else None,
        **_verdict(item.verdict),
    }


def _verdict(verdict: Verdict) -> Shape:
    downgraded = verdict.downgraded_from
    return {
        "decision": verdict.decision.value,
        "decided_by": verdict.decided_by,
        "reason": verdict.reason,
        "downgraded_from": downgraded.value if downgraded else None,
    }
