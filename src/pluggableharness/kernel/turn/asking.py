"""From ask to an answer: a reviewer, a person, or a grant that came meanwhile (K8, K10)."""

import asyncio
from dataclasses import replace
from typing import Final

from pluggableharness.kernel.domain.call import Call, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.plan import Answer, Lasting, Plan, PlanItem
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Review, Verdict
from pluggableharness.kernel.planning.classify import classify
from pluggableharness.kernel.turn.edits import as_text, told_edit
from pluggableharness.kernel.turn.hooks import forbidden, judged
from pluggableharness.kernel.turn.leading import with_places
from pluggableharness.kernel.turn.ports import Grants, TurnPorts

PERSON = "person"

_NOBODY = Verdict(
    Decision.DENY,
    "nobody was there to ask",
    "nobody answered; allow the call by a rule or run attended",
    downgraded_from=Decision.ASK,
)

_MOST_ASKED: Final = 100
"""How often one call is asked about at most: no person edits so often, but a program may."""

_NEVER_DECIDED = Verdict(
    Decision.DENY,
    f"the limit of {_MOST_ASKED} answers",
    "none of them decided: each edited the call, or was to last and could not be kept",
)

_EDITED = Verdict(Decision.ASK, "edited", "a person edited its arguments")


async def judged_item(ports: TurnPorts, item_id: str, call: Call) -> PlanItem:
    """An item as policy judges it where its paths lead now.

    It holds what a person needs to judge it too, and what an answer may cover. A read has a
    preview only where it is a person's matter.
    """
    call = await ports.locate(call)
    verdict = ports.decide(call)
    persons = verdict.decision is Decision.ASK or verdict.decided_by == PERSON
    shown = persons or call.operation.kind is Kind.RESOURCE
    preview = await preview_of(ports, call) if shown else None
    item = PlanItem(item_id, call, preview, verdict, shown=as_text(call.arguments))
    return _offering(ports, item)


async def preview_of(ports: TurnPorts, call: Call) -> RenderNode | None:
    """What is shown of a call: the provider's preview, under where its paths lead (K10a)."""
    return with_places(call, await ports.providers.preview(call))


async def settled(ports: TurnPorts, item: PlanItem, changed: str = "") -> PlanItem:
    """The item once nothing about it is open: a reviewer first, where a rule names one, then
    the person, as often as an edit or an answer that cannot be kept brings it back."""
    item = await _past_reviewer(ports, item)
    asked = 0
    while item.verdict.decision is Decision.ASK and asked < _MOST_ASKED:
        asked += 1
        answer = await _answer(ports, item, changed)
        if isinstance(answer, Verdict):
            item = replace(item, verdict=answer)
        elif answer.arguments is not None:
            item, changed = await _edited(ports, item, answer.arguments)
        else:
            item, changed = _answered(ports, item, answer)
    if item.verdict.decision is Decision.ASK:
        item = replace(item, verdict=_NEVER_DECIDED)
    if item.written is None:
        return item
    edited = told_edit(item.written, item.call.arguments)
    return replace(item, verdict=replace(item.verdict, edited=edited))


async def anew(ports: TurnPorts, item: PlanItem, call: Call, why: Verdict | None) -> PlanItem:
    """The item from the start, since its call is another or would do something else (K1, K10a).

    Policy, the vetoes at plan-ready and the reviewer are asked as they were at first. With `why`,
    which asks, what none of them denies goes to the person whatever they allow.
    """
    again = replace(await judged_item(ports, item.id, call), written=item.written)
    if call.operation.kind is Kind.RESOURCE:
        (again,) = (await judged(ports.hooks, Plan(call.context.turn_id, (again,)))).items
    if why is None:
        return again
    again = await _past_reviewer(ports, again)
    if again.verdict.decision is Decision.DENY:
        return again
    if again.verdict.opinion is not None and again.verdict.decision is Decision.ALLOW:
        ports.record.decision(again.call, again.verdict)  # its one place, since the person decides
    return _offering(ports, replace(again, verdict=why))


async def _past_reviewer(ports: TurnPorts, item: PlanItem) -> PlanItem:
    """The item with its reviewer's word, where a rule names one."""
    if item.verdict.review is None:
        return item
    return replace(item, verdict=await _reviewed(ports, item.call, item.verdict.review))


async def _reviewed(ports: TurnPorts, call: Call, review: Review) -> Verdict:
    if ports.review is None:
        return review.otherwise
    verdict = await ports.review(call, review)
    if verdict.decision is Decision.ASK:
        # Where the reviewer settles nothing, the record has no other place for what it said.
        ports.record.decision(call, verdict)
    return verdict


async def _answer(ports: TurnPorts, item: PlanItem, changed: str) -> Answer | Verdict:
    """The person's answer, or policy's as soon as a new grant covers the item."""
    grants = ports.grants
    if grants is None or ports.decide(item.call).decision is not Decision.ASK:
        # An edited call that policy allows is shown all the same: no grant may answer that.
        return await ports.frontend.decide(item, changed) or _NOBODY
    question = asyncio.ensure_future(ports.frontend.decide(item, changed))
    granted = asyncio.ensure_future(_granted(ports, grants, item.call))
    try:
        await asyncio.wait((question, granted), return_when=asyncio.FIRST_COMPLETED)
        return (question.result() or _NOBODY) if question.done() else granted.result()
    finally:
        question.cancel()
        granted.cancel()
        await asyncio.gather(question, granted, return_exceptions=True)


async def _granted(ports: TurnPorts, grants: Grants, call: Call) -> Verdict:
    while True:
        count = grants.count
        verdict = ports.decide(call)
        if verdict.decision is Decision.ALLOW:
            return verdict
        await grants.beyond(count)


async def _edited(ports: TurnPorts, item: PlanItem, arguments: JsonObject) -> tuple[PlanItem, str]:
    """The item with the person's arguments, which take the way of any that a model writes."""
    before = item.call
    proposed = ProposedCall(before.tool_use_id, before.operation.full_name, arguments)
    call = classify(
        proposed,
        (before.operation,),
        call_id=before.id,
        context=before.context,
        deadline_s=lambda operation: before.deadline_s,
    )
    if isinstance(call, RefusedCall):
        return item, f"the edit was not taken over: {call.failure.message}"
    written = before.arguments if item.written is None else item.written
    item = replace(item, written=written)
    denied = await forbidden(ports.hooks, call)
    if denied is not None:
        return replace(item, call=call, verdict=denied, shown=as_text(call.arguments)), ""
    edited = await anew(ports, item, call, _EDITED)
    return edited, "its arguments were edited; this is what would run now"


def _answered(ports: TurnPorts, item: PlanItem, answer: Answer) -> tuple[PlanItem, str]:
    """The item as it was answered; still open, with the reason, when that cannot be kept."""
    if answer.allow and answer.lasting is not Lasting.ONCE:
        wrong = _kept(ports, item, answer)
        if wrong:
            return item, wrong
    decision = Decision.ALLOW if answer.allow else Decision.DENY
    return replace(item, verdict=Verdict(decision, PERSON, answer.reason)), ""


def _kept(ports: TurnPorts, item: PlanItem, answer: Answer) -> str:
    """Let an answer last; the reason when it cannot."""
    if ports.grants is None or answer.scope not in item.scopes or answer.scope is None:
        return "this can only be allowed once: what the answer was to cover was not offered"
    try:
        ports.grants.add(item.call, answer.scope, answer.lasting)
    except GrantNotKept as failure:
        return str(failure)
    ports.record.grant(item.call, answer.scope, answer.lasting)
    return ""


def _offering(ports: TurnPorts, item: PlanItem) -> PlanItem:
    if item.verdict.decision is not Decision.ASK or ports.grants is None:
        return item
    return replace(item, scopes=ports.grants.scopes(item.call))
