"""One run of a session at a time, ended from outside, and an end that no record holds."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from unit.session.test_session_ends import EndRecord, Insisting, session
from unit.turn.doubles import FakeFrontend, FakeProviders, ListModel, says

from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.errors import RecordFailed, UsageError
from pluggableharness.kernel.domain.hook import AtSessionEnd, HookEnd, HookPayload
from pluggableharness.kernel.domain.message import Cut, Message, ModelReply, Role, ToolResult
from pluggableharness.kernel.domain.news import SessionEnded
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.session.session import Session


class Waiting:
    """A call that runs until it is cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Event()

    async def __call__(self, call: Call) -> Outcome:
        self.started.set()
        await asyncio.Event().wait()
        raise AssertionError


def ends(run: Session) -> list[SessionEnd]:
    assert isinstance(run.record, EndRecord)
    return [end for _, end in run.record.filed if isinstance(end, SessionEnd)]


@pytest.mark.req("K34")
async def test_a_session_that_runs_is_not_run_again_meanwhile() -> None:
    waiting = Waiting()
    run = session(Insisting(), providers=FakeProviders(behaviour=waiting))
    first = asyncio.ensure_future(run.run("go"))
    await waiting.started.wait()
    for again in (run.run, run.go_on):
        with pytest.raises(UsageError, match="runs already"):
            await again("once more")
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert [end.status for end in ends(run)] == [SessionStatus.CANCELLED]


@pytest.mark.req("K34", "K17")
async def test_a_session_that_is_stopped_gives_back_a_cancelled_end_and_its_task_goes_on() -> None:
    waiting = Waiting()
    run = session(Insisting(), providers=FakeProviders(behaviour=waiting))

    async def holder() -> tuple[SessionEnd, int]:
        end = await run.run("go")
        task = asyncio.current_task()
        assert task is not None
        return end, task.cancelling()

    task = asyncio.ensure_future(holder())
    await waiting.started.wait()
    await run.stop()
    end, cancelling = await task
    assert (end.status, cancelling) == (SessionStatus.CANCELLED, 0)
    assert ends(run) == [end]
    await run.stop()


@pytest.mark.req("K34", "K17")
async def test_who_is_cancelled_while_the_session_is_stopped_stays_cancelled() -> None:
    waiting = Waiting()
    run = session(Insisting(), providers=FakeProviders(behaviour=waiting))
    task = asyncio.ensure_future(run.run("go"))
    await waiting.started.wait()
    stopping = asyncio.ensure_future(run.stop())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await stopping


class SlowAtTheEnd:
    """Hooks of which one takes long when a session has ended."""

    def __init__(self) -> None:
        self.there = asyncio.Event()

    async def run(self, payload: HookPayload) -> HookEnd:
        if isinstance(payload, AtSessionEnd):
            self.there.set()
            await asyncio.Event().wait()
        return HookEnd(payload)


@pytest.mark.req("K17", "K25", "K30")
@pytest.mark.parametrize("by", ["an interrupt", "the kernel's end"])
async def test_a_session_that_had_come_to_an_end_keeps_it_when_it_is_cancelled_then(
    by: str,
) -> None:
    run, hooks, frontend = session(Insisting()), SlowAtTheEnd(), FakeFrontend()
    run.ports = replace(run.ports, model=ListModel([says("Done.")]), hooks=hooks, frontend=frontend)
    task = asyncio.ensure_future(run.run("go"))
    await hooks.there.wait()
    if by == "an interrupt":
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        await run.stop()
        assert await task == ends(run)[0]
    assert [(end.status, end.final_text) for end in ends(run)] == [
        (SessionStatus.COMPLETED, "Done.")
    ]
    assert [news.end for news in frontend.heard if isinstance(news, SessionEnded)] == ends(run)


class FullDisk(EndRecord):
    """Takes so many waits for the disk, and then no more."""

    left = 0

    async def durable(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RecordFailed("the record cannot be written: No space left on device")


@pytest.mark.req("K27", "K33")
@pytest.mark.parametrize("left", range(5))
async def test_an_end_that_cannot_be_recorded_is_told_all_the_same(left: int) -> None:
    run = session(Insisting(operation="write"))
    record, frontend = FullDisk(), FakeFrontend()
    record.left = left
    ports: Any = run.ports
    bound = type(ports)(
        Insisting(operation="write"),
        ports.providers,
        record,
        frontend,
        ports.decide,
        ports.deadline_s,
    )
    failing = Session("s", "/work", run.offered, bound, record)
    with pytest.raises(RecordFailed):
        await failing.run("go")
    (told,) = [news for news in frontend.heard if isinstance(news, SessionEnded)]
    assert told.end.status is SessionStatus.FAILED
    assert "No space left on device" in told.end.reason
    assert frontend.heard[-1] is told


@pytest.mark.req("P8", "K34")
@pytest.mark.parametrize("given", [None, [], True, {1: 2}, {"x": {"y": [{None: 1}]}}])
async def test_what_a_program_proposes_as_arguments_and_is_no_object_is_refused(
    given: Any,
) -> None:
    said = Message(Role.ASSISTANT, (ProposedCall("t", "toy.read", given),))
    model: Any = ListModel([said, says("done")])
    run = session(model)
    assert (await run.run("go")).status is SessionStatus.COMPLETED
    (result,) = (
        block
        for message in run.history
        for block in message.blocks
        if isinstance(block, ToolResult)
    )
    assert isinstance(result.outcome, Failure)
    assert result.outcome.category is ErrorCategory.INVALID_ARGUMENTS
    assert "a Python" in result.outcome.message


@pytest.mark.req("K33", "K36")
@pytest.mark.parametrize("cut", list(Cut))
async def test_an_end_whose_last_answer_was_cut_says_so(cut: Cut) -> None:
    class Cutting:
        name = "cutting"

        async def reply(self, *given: Any) -> ModelReply:
            return ModelReply(says("so far"), cut=cut)

    model: Any = Cutting()
    end = await session(model).run("go")
    assert (end.status, end.reason) == (SessionStatus.COMPLETED, cut.value)
    assert end.final_text == "so far"
