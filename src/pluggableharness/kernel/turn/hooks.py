"""Where a turn lets hooks look and speak (K1, K25), and what their word does to it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.hook import (
    AfterApply,
    AfterCall,
    AfterModel,
    BeforeCall,
    BeforeModel,
    HookEnd,
    HookPayload,
    PlanMade,
)
from pluggableharness.kernel.domain.message import Message, ModelReply
from pluggableharness.kernel.domain.plan import ApplyItem, Plan
from pluggableharness.kernel.domain.verdict import Verdict
from pluggableharness.kernel.turn.denial import denial
from pluggableharness.kernel.turn.results import Results


class Hooks(Protocol):
    """The subscribers of a session."""

    async def run(self, payload: HookPayload) -> HookEnd:
        """Let the subscribers of the payload's point speak, in their order; never raises."""
        ...


class NoHooks:
    """Nobody has subscribed to anything."""

    async def run(self, payload: HookPayload) -> HookEnd:
        """Nobody objects."""
        return HookEnd(payload)


NO_HOOKS = NoHooks()


async def before_model(hooks: Hooks, history: Sequence[Message], model: str) -> Sequence[Message]:
    """What the model is to read. Raises ModelFailed when it must not be asked."""
    end = await hooks.run(BeforeModel(history, model))
    if end.denied is not None:
        raise ModelFailed(f"The model was not asked: {denial(end.denied).message}")
    assert isinstance(end.payload, BeforeModel)
    return end.payload.messages


async def after_model(hooks: Hooks, message: Message, model: str, reply: ModelReply) -> None:
    """Show the model's answer."""
    await hooks.run(AfterModel(message, model, reply.usage, reply.cost_usd))


async def vetted(
    hooks: Hooks, calls: Sequence[Call | RefusedCall], written: Sequence[str]
) -> list[Call | RefusedCall]:
    """The calls, those refused that a hook forbids; `written` are their names as the model has
    them."""
    return [
        await _vetted(hooks, call, name) if isinstance(call, Call) else call
        for call, name in zip(calls, written, strict=True)
    ]


async def forbidden(hooks: Hooks, call: Call) -> Verdict | None:
    """Who forbids a call before policy sees it; None when nobody does."""
    return (await hooks.run(BeforeCall(call))).denied


async def judged(hooks: Hooks, plan: Plan) -> Plan:
    """The plan, every item denied when a hook forbids it."""
    end = await hooks.run(PlanMade(plan))
    if end.denied is None:
        return plan
    return replace(plan, items=tuple(replace(one, verdict=end.denied) for one in plan.items))


async def after_calls(
    hooks: Hooks,
    turn_id: str,
    results: Results,
    calls: Sequence[Call],
    applied: Sequence[ApplyItem],
) -> None:
    """Show how the calls ended, in the model's order, and then what became of the plan."""
    edited = {item.item.call.id: item.item.call for item in applied}
    for call in calls:
        outcome = results.outcome(call)
        if outcome is not None:
            await hooks.run(AfterCall(edited.get(call.id, call), outcome))
    if applied:
        await hooks.run(AfterApply(turn_id, applied))


async def _vetted(hooks: Hooks, call: Call, name: str) -> Call | RefusedCall:
    denied = await forbidden(hooks, call)
    if denied is None:
        return call
    return RefusedCall(call.id, call.tool_use_id, name, call.arguments, denial(denied))
