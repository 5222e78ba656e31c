"""Apply: run the items that were allowed, in the order that keeps a message's meaning."""

import asyncio

from pluggableharness.kernel.domain.news import PlanApplied
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Applied, ApplyItem, Plan, PlanItem
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.planning.order import waits_for
from pluggableharness.kernel.turn.calls import together
from pluggableharness.kernel.turn.gate import decide_and_run
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.results import Results


async def apply_plan(ports: TurnPorts, results: Results, plan: Plan) -> tuple[ApplyItem, ...]:
    """Decide and run every item; an undecided one holds up only what must wait for it (K13a).

    Gives back how each ended.
    """
    waits = waits_for([item.call for item in plan.items])
    ended = [asyncio.Event() for _ in plan.items]
    applied: dict[str, ApplyItem] = {}

    async def settle(index: int, item: PlanItem) -> None:
        before = [ended[earlier] for earlier in waits[index]]
        try:
            last, outcome = await decide_and_run(ports, results, item, before)
            applied[item.id] = ApplyItem(last, _applied(last, outcome), outcome)
            # One that was denied did not wait, and those behind it wait for nothing else.
            for earlier in before:
                await earlier.wait()
        finally:
            ended[index].set()

    await together([settle(index, item) for index, item in enumerate(plan.items)])
    done = tuple(applied[item.id] for item in plan.items)
    ports.record.applied(plan.turn_id, done)
    await ports.frontend.hear(PlanApplied(plan.turn_id, done))
    return done


def _applied(item: PlanItem, outcome: Outcome) -> Applied:
    if isinstance(outcome, Success):
        return Applied.APPLIED
    denied = item.verdict.decision is Decision.DENY
    return Applied.DENIED if denied else _failed(outcome)


def _failed(failure: Failure) -> Applied:
    cancelled = failure.category is ErrorCategory.CANCELLED
    return Applied.SKIPPED if cancelled else Applied.FAILED
