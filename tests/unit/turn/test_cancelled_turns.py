"""A turn that is cancelled: its message, and one result for each call, whenever it comes (K17)."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest
from unit.turn.doubles import CONTEXT, FakeProviders, calls, ports, says
from unit.turn.six_operations import OFFERED, categories, results

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import CallCancelled
from pluggableharness.kernel.domain.hook import (
    AfterApply,
    AfterCall,
    AfterModel,
    BeforeCall,
    HookEnd,
    HookPayload,
    PlanMade,
)
from pluggableharness.kernel.domain.message import Message, Role
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.turn.turn import run_turn


@pytest.mark.req("K2", "K17")
async def test_a_cancelled_turn_still_has_one_result_for_every_call() -> None:
    running = asyncio.Event()
    report = Failure(ErrorCategory.CANCELLED, "half done", details={"written": 3})

    async def endless(call: Call) -> Outcome:
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise CallCancelled(report) from None
        raise AssertionError

    given, _, record, _ = ports(calls("shell", "write", "read"), providers=FakeProviders(endless))
    history: list[Message] = []
    turn = asyncio.ensure_future(run_turn(given, CONTEXT, history, OFFERED))
    await asyncio.wait_for(running.wait(), 5)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert categories(history) == ["cancelled"] * 3
    assert results(history)[0].outcome == report
    assert record.kinds().count("outcome") == 3


@pytest.mark.req("K2", "K17")
async def test_a_call_that_had_ended_keeps_its_result_when_the_turn_is_cancelled() -> None:
    both = asyncio.Event()

    async def first_only(call: Call) -> Outcome:
        if call.tool_use_id == "use-0":
            return Success({"kept": True})
        both.set()
        await asyncio.Event().wait()
        raise AssertionError

    given, *_ = ports(calls("read", "read"), providers=FakeProviders(first_only))
    history: list[Message] = []
    turn = asyncio.ensure_future(run_turn(given, CONTEXT, history, OFFERED))
    await asyncio.wait_for(both.wait(), 5)
    await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert categories(history) == ["ok", "cancelled"]


@dataclass
class StuckAt:
    """Hooks that come to a point and never leave it; `there` tells that they have."""

    point: type[HookPayload]
    there: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, payload: HookPayload) -> HookEnd:
        if isinstance(payload, self.point):
            self.there.set()
            await asyncio.Event().wait()
        return HookEnd(payload)


@pytest.mark.req("K2", "K17", "K25")
@pytest.mark.parametrize("point", [AfterModel, BeforeCall, PlanMade, AfterCall, AfterApply])
async def test_a_turn_that_is_cancelled_at_a_hook_has_its_message_and_every_result(
    point: type[HookPayload],
) -> None:
    given, _, record, _ = ports(calls("write", "gone", "read"))
    hooks = StuckAt(point)
    history: list[Message] = []
    turn = asyncio.ensure_future(run_turn(replace(given, hooks=hooks), CONTEXT, history, OFFERED))
    await asyncio.wait_for(hooks.there.wait(), 30)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    ran = "ok" if point in (AfterCall, AfterApply) else "cancelled"
    assert [message.role for message in history] == [Role.ASSISTANT, Role.USER]
    assert categories(history) == [ran, "not_found", ran]
    assert record.kinds().count("message") == 1
    assert record.kinds().count("outcome") == 2


@pytest.mark.req("K17")
async def test_a_last_message_that_was_filed_is_kept_when_the_turn_is_cancelled_behind_it() -> None:
    given, *_ = ports(says("Done."))
    hooks = StuckAt(AfterModel)
    history: list[Message] = []
    turn = asyncio.ensure_future(run_turn(replace(given, hooks=hooks), CONTEXT, history, OFFERED))
    await asyncio.wait_for(hooks.there.wait(), 30)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert [message.text for message in history] == ["Done."]
