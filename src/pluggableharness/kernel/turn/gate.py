"""The gate: a plan of the resource calls, and the decision about each item."""

from collections.abc import Sequence
from dataclasses import replace

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import ItemDecided, PlanReady
from pluggableharness.kernel.domain.plan import Plan, PlanItem
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.asking import PERSON, described, settled
from pluggableharness.kernel.turn.calls import together
from pluggableharness.kernel.turn.hooks import judged
from pluggableharness.kernel.turn.ports import Running, TurnPorts


async def build_plan(ports: TurnPorts, turn_id: str, calls: Sequence[Call]) -> Plan:
    """Copy what a person needs to judge each call into its item, and let policy speak (K9)."""
    items: dict[str, PlanItem] = {}

    async def describe(number: int, call: Call) -> None:
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

    The difference is empty when the call may run. Only what a person approved is compared:
    a rule's allow never depended on the preview.
    """
    if not running.declares(item.call.operation):
        return _asked_again(item), "the provider now declares this operation differently"
    if item.verdict.decided_by != PERSON:
        return item, ""
    preview = await ports.providers.preview(item.call)
    if preview == item.preview:
        return item, ""
    return _asked_again(replace(item, preview=preview)), "what this call would do has changed"


def _asked_again(item: PlanItem) -> PlanItem:
    reason = "what was approved is not what would run now"
    return replace(item, verdict=Verdict(Decision.ASK, "changed since it was approved", reason))
