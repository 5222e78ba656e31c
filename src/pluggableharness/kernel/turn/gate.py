"""The gate: a plan of the resource calls, and the decision about each item."""

from collections.abc import Sequence
from dataclasses import replace

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import ItemDecided, PlanReady
from pluggableharness.kernel.domain.plan import Plan, PlanItem
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.asking import PERSON, described, preview_of, settled
from pluggableharness.kernel.turn.calls import together
from pluggableharness.kernel.turn.edits import as_text, from_text
from pluggableharness.kernel.turn.hooks import judged
from pluggableharness.kernel.turn.leading import moves
from pluggableharness.kernel.turn.ports import Running, TurnPorts

_CHANGED = Verdict(
    Decision.ASK,
    "changed since it was approved",
    "what was approved is not what would run now",
)


async def build_plan(ports: TurnPorts, turn_id: str, calls: Sequence[Call]) -> Plan:
    """Copy what a person needs to judge each call into its item, and let policy speak (K9)."""
    items: dict[str, PlanItem] = {}

    async def describe(number: int, call: Call) -> None:
        call = await ports.locate(call)
        verdict = ports.decide(call)
        items[call.id] = await described(ports, f"{turn_id}.{number}", call, verdict)

    await together([describe(number, call) for number, call in enumerate(calls, 1)])
    plan = await judged(ports.hooks, Plan(turn_id, tuple(items[call.id] for call in calls)))
    ports.record.plan(plan)
    await ports.frontend.hear(PlanReady(plan))
    return plan


async def decide_item(ports: TurnPorts, item: PlanItem, changed: str = "") -> PlanItem:
    """The item with a verdict that is not ASK: policy's own, or a person's answer (K10).

    Its call may be another than before, when the person edited the arguments. `changed` is
    empty the first time and says what differs when the item came back.
    """
    decided = await settled(ports, item, changed)
    ports.record.decision(decided.call, decided.verdict)
    await ports.frontend.hear(ItemDecided(decided, decided.verdict))
    return decided


async def as_approved(ports: TurnPorts, running: Running, item: PlanItem) -> tuple[PlanItem, str]:
    """The item as it is now, under its lock, and what differs from what was approved (K10a).

    The difference is empty when the call may run. Where its paths lead is compared for every
    call, and where that has changed a rule judges anew. The preview is compared only for what a
    person approved: a rule's allow never depended on it.
    """
    if not running.declares(item.call.operation):
        return replace(
            item, verdict=_CHANGED
        ), "the provider now declares this operation differently"
    if as_text(item.call.arguments) != item.shown:
        # The object is shared with frontends.
        restored = replace(item.call, arguments=from_text(item.shown))
        changed = "its arguments were changed meanwhile; these are the ones that were shown"
        return replace(item, call=restored, verdict=_CHANGED), changed
    call = await ports.locate(item.call)
    moved = moves(item.call, call)
    if moved:
        return await _where_it_leads_now(ports, item, call, moved)
    if item.verdict.decided_by != PERSON:
        return item, ""
    preview = await preview_of(ports, call)
    if preview == item.preview:
        return item, ""
    changed = "what this call would do has changed"
    return replace(item, preview=preview, verdict=_CHANGED), changed


async def _where_it_leads_now(
    ports: TurnPorts, item: PlanItem, call: Call, moved: str
) -> tuple[PlanItem, str]:
    """The item as policy judges it where its paths lead now; a person's yes was for elsewhere."""
    verdict = ports.decide(call)
    if item.verdict.decided_by == PERSON and verdict.decision is not Decision.DENY:
        verdict = _CHANGED
    if verdict.decision is Decision.ALLOW:
        return replace(item, call=call, verdict=verdict), ""
    described_anew = await described(ports, item.id, call, verdict)
    return replace(described_anew, written=item.written), moved
