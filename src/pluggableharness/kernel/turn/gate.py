"""The gate: a plan of the resource calls, and each call from a question to its run."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import ProviderUnavailable
from pluggableharness.kernel.domain.news import ItemDecided, PlanReady
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.plan import Plan, PlanItem
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.asking import PERSON, anew, judged_item, preview_of, settled
from pluggableharness.kernel.turn.calls import end_unsent, run_call, together, unavailable
from pluggableharness.kernel.turn.denial import denial
from pluggableharness.kernel.turn.edits import as_text, from_text
from pluggableharness.kernel.turn.hooks import judged
from pluggableharness.kernel.turn.leading import moves
from pluggableharness.kernel.turn.ports import Running, TurnPorts
from pluggableharness.kernel.turn.results import Results

_CHANGED = Verdict(
    Decision.ASK,
    "changed since it was approved",
    "what was approved is not what would run now",
)

_MOST_CHANGES: Final = 5
"""How often a call may be another just before it runs than when it was decided about. What is
never twice the same can be approved by nobody."""


class Difference(NamedTuple):
    """What is not as it was when a call was decided about, and whether a person must see it."""

    told: str
    persons: bool = True


async def build_plan(ports: TurnPorts, turn_id: str, calls: Sequence[Call]) -> Plan:
    """Copy what a person needs to judge each call into its item, and let policy speak (K9)."""
    items: dict[str, PlanItem] = {}

    async def describe(number: int, call: Call) -> None:
        items[call.id] = await judged_item(ports, f"{turn_id}.{number}", call)

    await together([describe(number, call) for number, call in enumerate(calls, 1)])
    plan = await judged(ports.hooks, Plan(turn_id, tuple(items[call.id] for call in calls)))
    ports.record.plan(plan)
    await ports.frontend.hear(PlanReady(plan))
    return plan


async def decide_item(
    ports: TurnPorts, results: Results, item: PlanItem, changed: str = ""
) -> PlanItem:
    """The item with a verdict that is not ASK, filed: policy's own, or a person's answer (K10).

    Its call may be another than before, when the person edited the arguments. `changed` is
    empty the first time and says what differs when the item came back.
    """
    decided = await settled(ports, item, changed)
    ports.record.decision(decided.call, decided.verdict)
    results.decided(decided.call, decided.verdict)
    if decided.call.operation.kind is Kind.RESOURCE:
        await ports.frontend.hear(ItemDecided(decided, decided.verdict))
    return decided


async def decide_and_run(
    ports: TurnPorts, results: Results, item: PlanItem, before: Sequence[asyncio.Event] = ()
) -> tuple[PlanItem, Outcome]:
    """Decide, wait for what must end first, and run what is still as it was decided about (K10a).

    What is not is decided anew, a few times at most. Neither persons nor hooks are asked under
    the lock.
    """
    changed, changes = "", 0
    while True:
        item = await decide_item(ports, results, item, changed)
        if item.verdict.decision is not Decision.ALLOW:
            return item, await end_unsent(ports, results, item.call, denial(item.verdict))
        for earlier in before:
            await earlier.wait()
        try:
            async with ports.providers.locked(item.call) as running:
                difference = await _difference(ports, running, item)
                if difference is None:
                    return item, await run_call(ports, results, running, item.call)
        except ProviderUnavailable as error:
            return item, await end_unsent(ports, results, item.call, unavailable(error))
        changed, changes = difference.told, changes + 1
        if changes < _MOST_CHANGES:
            item = await _from_the_start(ports, item, difference)
        else:
            item = replace(item, verdict=_never_the_same(changed))


async def _difference(ports: TurnPorts, running: Running, item: PlanItem) -> Difference | None:
    """What differs, under the lock, from what was decided about; None when the call may run.

    Where its paths lead is compared for every call. The preview is compared only for what a
    person approved: a rule's allow never depended on it.
    """
    if not running.declares(item.call.operation):
        return Difference("the provider now declares this operation differently")
    if as_text(item.call.arguments) != item.shown:
        # The object is shared with frontends.
        return Difference(
            "its arguments were changed meanwhile; these are the ones that were shown"
        )
    approved = item.verdict.decided_by == PERSON
    call = await ports.locate(item.call)
    moved = moves(item.call, call)
    if moved:
        return Difference(moved, persons=approved)
    if approved and await preview_of(ports, call) != item.preview:
        return Difference("what this call would do has changed")
    return None


async def _from_the_start(ports: TurnPorts, item: PlanItem, difference: Difference) -> PlanItem:
    """The item as it is now, with the arguments that were shown, judged as it was at first."""
    call = replace(item.call, arguments=from_text(item.shown))
    return await anew(ports, item, call, _CHANGED if difference.persons else None)


def _never_the_same(changed: str) -> Verdict:
    return Verdict(
        Decision.DENY,
        _CHANGED.decided_by,
        f"each of the {_MOST_CHANGES} times that it was about to run, something was not as it was "
        f"when it was allowed; the last time: {changed}",
    )
