"""A turn from the model's message to its results: the steps of K1, one after another."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from pluggableharness.kernel.domain.call import Call, CallContext, RefusedCall
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import (
    INTERRUPTED,
    NOTHING_USED,
    Cut,
    Message,
    ModelReply,
    Role,
    Text,
)
from pluggableharness.kernel.domain.news import CallRefused, MessageArrived, Notice, TextDelta
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import NEVER_SENT, Success
from pluggableharness.kernel.domain.plan import ApplyItem
from pluggableharness.kernel.planning.classify import classify
from pluggableharness.kernel.planning.order import split
from pluggableharness.kernel.turn.apply import apply_plan
from pluggableharness.kernel.turn.gate import build_plan
from pluggableharness.kernel.turn.hooks import after_calls, after_model, before_model, vetted
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.reads import run_reads
from pluggableharness.kernel.turn.results import Results


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What a turn came to.

    `done` says that the loop is over: the message held no call, or a call that terminates
    the turn succeeded (K12), whose result `final` then is. `cut` is why the message is not all
    that the model had to say.
    """

    message: Message
    done: bool
    final: Success | None = None
    cut: Cut | None = None


async def run_turn(
    ports: TurnPorts,
    context: CallContext,
    history: list[Message],
    offered: Sequence[Operation],
) -> TurnEnd:
    """Ask the model, run what it proposes, and append both to the history.

    The history gets the message and one result for each of its calls even when the turn is
    cancelled half way (K2). Raises ModelFailed and RecordFailed.
    """
    with ports.around(context):
        reply = await _ask_model(ports, context.turn_id, history, offered)
        message, cut = reply.message, reply.cut

        async def tell() -> None:
            await _tell_message(ports, context.turn_id, reply)
            await after_model(ports.hooks, message, ports.model.name, reply)

        if not message.calls:
            history.append(message)
            await tell()
            return TurnEnd(message, done=True, cut=cut)
        return await run_message(ports, context, history, offered, message, tell, cut)


async def run_message(
    ports: TurnPorts,
    context: CallContext,
    history: list[Message],
    offered: Sequence[Operation],
    message: Message,
    tell: Callable[[], Awaitable[None]],
    cut: Cut | None = None,
) -> TurnEnd:
    """The steps of a turn once its message, which holds calls, is filed; else as `run_turn`.

    `tell` is the first of them: it lets whoever watches know of the message.
    """
    calls = _naming_cut(_classify(ports, context, message, offered), cut)
    results = Results(calls)
    try:
        await tell()
        calls = await vetted(ports.hooks, calls, [proposed.name for proposed in message.calls])
        results.refuse(calls)
        await _tell_refused(ports, context.turn_id, calls)
        await run_calls(ports, context.turn_id, results, [c for c in calls if isinstance(c, Call)])
    finally:
        for call in results.missing:
            ports.record.outcome(call, NEVER_SENT)
            results.settle(call, NEVER_SENT)
        history += [message, results.message()]
    return _end(message, results, calls)


async def _ask_model(
    ports: TurnPorts, turn_id: str, history: list[Message], offered: Sequence[Operation]
) -> ModelReply:
    """The model's answer, filed as the message of the turn."""
    seen: list[str] = []

    async def heard(piece: str | Notice) -> None:
        if isinstance(piece, Notice):
            seen.clear()  # the message is asked for anew, and what came of it does not count
            ports.record.notice(piece)
            await ports.frontend.hear(piece)
        else:
            seen.append(piece)
            await ports.frontend.hear(TextDelta(turn_id, piece))

    read = await before_model(ports.hooks, history, ports.model.name)
    try:
        reply = await ports.model.reply(read, offered, heard)
    except asyncio.CancelledError:
        _keep_seen(ports, turn_id, history, "".join(seen))
        raise
    # The record has no other place that says which turn a message began.
    reply = replace(reply, message=replace(reply.message, id=turn_id))
    ports.record.message(reply.message, reply.usage, reply.cost_usd)
    return reply


async def _tell_message(ports: TurnPorts, turn_id: str, reply: ModelReply) -> None:
    await ports.frontend.hear(MessageArrived(turn_id, reply.message, reply.usage, reply.cost_usd))
    if reply.cut is not None:
        by = reply.message.by or ports.model.name
        warning = Notice("warning", f"{by}: {reply.cut.value}")
        ports.record.notice(warning)
        await ports.frontend.hear(warning)


def _keep_seen(ports: TurnPorts, turn_id: str, history: list[Message], seen: str) -> None:
    """Keep the text that was shown of a message before it was broken off; never its calls (K17)."""
    if seen.strip():
        message = Message(Role.ASSISTANT, (Text(seen), INTERRUPTED), id=turn_id)
        ports.record.message(message, NOTHING_USED, 0.0)
        history.append(message)


def _classify(
    ports: TurnPorts, context: CallContext, message: Message, offered: Sequence[Operation]
) -> list[Call | RefusedCall]:
    return [
        classify(proposed, offered, call_id=ulid(), context=context, deadline_s=ports.deadline_s)
        for proposed in message.calls
    ]


def _naming_cut(calls: list[Call | RefusedCall], cut: Cut | None) -> list[Call | RefusedCall]:
    """The calls of a message; when it was cut within its last one, the refusal says so."""
    if cut is None or not isinstance(last := calls[-1], RefusedCall):
        return calls
    told = f"{last.failure.message}\nThis call is not whole: {cut.value}. Write less at once."
    return [*calls[:-1], replace(last, failure=replace(last.failure, message=told))]


async def _tell_refused(
    ports: TurnPorts, turn_id: str, calls: Sequence[Call | RefusedCall]
) -> None:
    for call in calls:
        if isinstance(call, RefusedCall):
            ports.record.refused(call)
            await ports.record.durable()
            await ports.frontend.hear(CallRefused(turn_id, call))


async def run_calls(
    ports: TurnPorts, turn_id: str, results: Results, calls: Sequence[Call]
) -> None:
    """Reads written before the first resource, the plan, and the reads written after (K13a)."""
    before, resources, after = split(calls)
    applied: Sequence[ApplyItem] = ()
    if before:
        await run_reads(ports, results, before)
    if resources:
        plan = await build_plan(ports, turn_id, resources)
        applied = await apply_plan(ports, results, plan)
    if after:
        await run_reads(ports, results, after)
    await after_calls(ports.hooks, turn_id, results, calls, applied)


def _end(message: Message, results: Results, calls: Sequence[Call | RefusedCall]) -> TurnEnd:
    for call in calls:
        if isinstance(call, Call) and call.operation.terminates_turn:
            outcome = results.outcome(call)
            if isinstance(outcome, Success):
                return TurnEnd(message, done=True, final=outcome)
    return TurnEnd(message, done=False)
