"""Calls that a kernel left open when it died, settled before their session goes on (K27).

What was never sent did not happen. What was sent may have: it runs again only when that does
no harm, and otherwise a person is asked. Hooks and policy are asked anew in either case, and what
nobody can settle goes to the model as what it is, unknown.
"""

from collections.abc import Sequence
from dataclasses import replace

from pluggableharness.kernel.domain.call import Call, CallContext, RefusedCall
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import Message, Role, ToolResult
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import LEFT_OPEN, Failure, Outcome
from pluggableharness.kernel.domain.recorded import RecordedTurn, RecordedUse
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.planning.classify import classify
from pluggableharness.kernel.turn.calls import end_unsent
from pluggableharness.kernel.turn.denial import was_denied
from pluggableharness.kernel.turn.hooks import forbidden
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.results import Results
from pluggableharness.kernel.turn.turn import run_calls


async def settle(
    ports: TurnPorts,
    context: CallContext,
    history: list[Message],
    left: RecordedTurn,
    offered: Sequence[Operation],
) -> None:
    """Append the message that was cut short and its results to the history.

    `context` is that of a turn of its own, in which the calls run that run again. Each
    outcome is filed before it is told. What is cancelled once more stays open in the record,
    and the history says as much (K2). Raises RecordFailed.
    """
    calls = {
        place: _call(ports, context, use, offered)
        for place, use in enumerate(left.uses)
        if use.outcome is None
    }
    settled = {place: use.result for place, use in enumerate(left.uses)}
    try:
        await _settle(ports, context, left, calls, settled)
    finally:
        history += [left.message, Message(Role.USER, tuple(settled.values()))]


async def _settle(
    ports: TurnPorts,
    context: CallContext,
    left: RecordedTurn,
    calls: dict[int, Call | RefusedCall],
    settled: dict[int, ToolResult],
) -> None:
    """Settle the open calls; both are by the places in the message."""
    again = {
        place: call
        for place, call in calls.items()
        if isinstance(call, Call)
        and _runs_again(ports, call, left.uses[place])
        and await forbidden(ports.hooks, call) is None
    }
    for place, call in calls.items():
        if place not in again:
            await _file(ports, call, left.uses[place].unknown)
    results = Results(list(again.values()))
    careful = {call.id for place, call in again.items() if not _harmless(call, left.uses[place])}
    asking = replace(ports, decide=lambda call: _verdict(ports, call, call.id in careful))
    try:
        await run_calls(asking, context.turn_id, results, list(again.values()))
        for call in again.values():
            if was_denied(results.outcome(call) or LEFT_OPEN):
                await end_unsent(ports, results, call, LEFT_OPEN)
    finally:
        for place, call in again.items():
            outcome = results.outcome(call) or LEFT_OPEN
            settled[place] = _result(left.uses[place], outcome, results.edited(call))


def _result(use: RecordedUse, outcome: Outcome, edited: str) -> ToolResult:
    """The result of a call that was open; `edited` is what a person changed just now."""
    told = " ".join(text for text in (use.edited, edited) if text)
    return replace(use, outcome=outcome, edited=told).result


def _call(
    ports: TurnPorts, context: CallContext, use: RecordedUse, offered: Sequence[Operation]
) -> Call | RefusedCall:
    """The call as it was last sent, and as the providers of today see it, under its own id."""
    return classify(
        use.proposed if use.ran is None else replace(use.proposed, arguments=use.ran),
        offered,
        call_id=use.call_id or ulid(),
        context=context,
        deadline_s=ports.deadline_s,
    )


def _runs_again(ports: TurnPorts, call: Call, use: RecordedUse) -> bool:
    """Whether policy, and where it is not harmless a person, may let the call run again."""
    if not use.sent:
        return False
    decision = ports.decide(call).decision
    needs_person = decision is Decision.ASK or not _harmless(call, use)
    return decision is not Decision.DENY and (ports.frontend.attended or not needs_person)


def _harmless(call: Call, use: RecordedUse) -> bool:
    """Whether running it twice is as good as once, as declared then and now."""
    return call.operation.kind is not Kind.RESOURCE or (
        use.idempotent and call.operation.idempotent
    )


def _verdict(ports: TurnPorts, call: Call, careful: bool) -> Verdict:
    """Policy's verdict; an allow of what may have run already is a person's to give, who is told
    so whatever else asks."""
    verdict = ports.decide(call)
    if careful and verdict.decision is not Decision.DENY:
        return Verdict(Decision.ASK, "resume", "it is not known whether this call ran already")
    return verdict


async def _file(ports: TurnPorts, call: Call | RefusedCall, outcome: Failure) -> None:
    if isinstance(call, Call):
        await end_unsent(ports, Results([call]), call, outcome)
    else:
        ports.record.refused(replace(call, failure=outcome))
        await ports.record.durable()
