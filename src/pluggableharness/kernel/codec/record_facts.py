"""The kernel's own kinds of the record, decisions and facts about sessions, as JSON (K27)."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from pluggableharness.kernel.codec.json_text import facts_bytes, json_bytes, json_value
from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.plan import Lasting, Scope
from pluggableharness.kernel.domain.recorded import RecordedDecision
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Opined, Opinion, Verdict

_REFUSED = "refused"


class _Opinion(msgspec.Struct):
    answer: Opined
    reason: str


class _Decision(msgspec.Struct):
    """A decision as it is written; one about a call that never became one has its first five."""

    call_id: str
    tool_use_id: str
    name: str
    idempotent: bool
    decision: str
    decided_by: str = ""
    reason: str = ""
    downgraded_from: str | None = None
    kind: Kind = Kind.DATA_SOURCE
    risk: Risk = Risk.READ_ONLY
    leading: str = ""
    deadline_s: float | None = None
    edited: str = ""
    reviewer: _Opinion | None = None


class _Ended(msgspec.Struct):
    status: SessionStatus
    reason: str
    final_text: str


_Form = TypeVar("_Form")


def decision_payload(call: Call, verdict: Verdict) -> bytes:
    """A decision: the verdict, what pairs the call with the model's message, and what of the
    operation a reader of the record wants to know."""
    operation, downgraded = call.operation, verdict.downgraded_from
    return facts_bytes(
        {
            "call_id": call.id,
            "tool_use_id": call.tool_use_id,
            "name": operation.full_name,
            "kind": operation.kind.value,
            "risk": operation.risk.value,
            "idempotent": operation.idempotent,
            "leading": next(iter(operation.input_schema.required), ""),
            "deadline_s": call.deadline_s,
            "decision": verdict.decision.value,
            "decided_by": verdict.decided_by,
            "reason": verdict.reason,
            "downgraded_from": None if downgraded is None else downgraded.value,
            **({"edited": verdict.edited} if verdict.edited else {}),
            **(_opined(verdict.opinion) if verdict.opinion else {}),
        }
    )


def grant_payload(call: Call, scope: Scope, lasting: Lasting) -> bytes:
    """What a person allowed beyond the call that they were asked about."""
    return json_bytes(
        {
            "call_id": call.id,
            "name": call.operation.full_name,
            "lasting": lasting.value,
            "covers": scope.covers,
            "when": scope.when,
            "rule": scope.rule,
        }
    )


def refusal_payload(refused: RefusedCall) -> bytes:
    """A decision about a call that never became one; its failure is an outcome of its own."""
    return json_bytes(
        {
            "call_id": refused.id,
            "tool_use_id": refused.tool_use_id,
            "name": refused.name,
            "idempotent": False,
            "decision": _REFUSED,
        }
    )


def read_decision(payload: bytes) -> RecordedDecision:
    """Read a decision, of either sort. Raises ValueError for what this module did not write."""
    facts = _as(_Decision, read_facts(payload))
    return RecordedDecision(
        facts.call_id,
        facts.tool_use_id,
        facts.name,
        facts.idempotent,
        None if facts.decision == _REFUSED else _verdict(facts),
        facts.kind,
        facts.risk,
        facts.leading,
        facts.deadline_s,
    )


def started_payload(
    session_id: str, working_directory: str, model: str, profile: str = "", parent: str = ""
) -> bytes:
    """The first fact about a session; `parent` is the id of the one that started it, or ""."""
    return json_bytes(
        {
            "event": "started",
            "session_id": session_id,
            "working_directory": working_directory,
            "model": model,
            "profile": profile,
            "parent": parent,
        }
    )


def resumed_payload(model: str) -> bytes:
    """The fact that a session that had ended, in whatever way, goes on."""
    return json_bytes({"event": "resumed", "model": model})


def notice_payload(notice: Notice) -> bytes:
    """What a person was told of the asking of a model: that it was asked again, say."""
    return json_bytes({"event": "notice", "level": notice.level, "message": notice.message})


def instructed_payload(text: str) -> bytes:
    """What the model is told beside the history from the next request on (K1)."""
    return json_bytes({"event": "instructed", "text": text})


def ended_payload(end: SessionEnd) -> bytes:
    """The last fact about a session."""
    return json_bytes(
        {
            "event": "ended",
            "status": end.status.value,
            "reason": end.reason,
            "final_text": end.final_text,
        }
    )


def read_ended(session_id: str, facts: dict[str, Any]) -> SessionEnd:
    """The last fact about a session, as `read_facts` gave it. Raises ValueError for what this
    module did not write."""
    end = _as(_Ended, facts)
    return SessionEnd(session_id, end.status, end.reason, end.final_text)


def read_facts(payload: bytes) -> dict[str, Any]:
    """Read a JSON payload; those of kind `session` have an `event`. Raises ValueError."""
    facts = json_value(payload)
    if not isinstance(facts, dict):
        raise ValueError("no JSON object")
    return facts


def _as(form: type[_Form], facts: dict[str, Any]) -> _Form:
    try:
        return msgspec.convert(facts, form)
    except msgspec.ValidationError as error:
        raise ValueError(f"no such fact of a session: {error}") from None


def _verdict(facts: _Decision) -> Verdict:
    verdict = _plain_verdict(facts.decision, facts.decided_by, facts.reason, facts.downgraded_from)
    said = facts.reviewer
    if said is None and not facts.edited:
        return verdict
    opinion = None if said is None else Opinion(said.answer, said.reason)
    return replace(verdict, edited=facts.edited, opinion=opinion)


@lru_cache(maxsize=256)
def _plain_verdict(
    decision: str, decided_by: str, reason: str, downgraded_from: str | None
) -> Verdict:
    """Most verdicts of a record are the same few, and a replay reads one for each call (S13)."""
    downgraded = None if downgraded_from is None else Decision(downgraded_from)
    return Verdict(Decision(decision), decided_by, reason, downgraded)


def _opined(opinion: Opinion) -> dict[str, Any]:
    return {"reviewer": {"answer": opinion.answer.value, "reason": opinion.reason}}
