"""How sessions end when their model would go on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from unit.turn.doubles import (
    FakeFrontend,
    FakeProviders,
    FakeRecord,
    ListModel,
    calls,
    operation,
    ports,
    says,
)

from pluggableharness.cli.starting import exit_code
from pluggableharness.kernel.domain.bounds import Bounds, Spent
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import CallCancelled
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.hook import AfterCall, BeforeModel, HookEnd, HookPayload
from pluggableharness.kernel.domain.message import Message, ModelReply, Text
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.session.spending import Spending
from pluggableharness.kernel.turn.ports import TurnPorts

OFFERED = (operation("read"), operation("write", Kind.RESOURCE), operation("ask", Kind.INTERACTIVE))


@dataclass
class Insisting:
    """Makes a call, another one each time, for as long as it is offered anything."""

    name: str = "insisting"
    cost_usd: float = 0.0
    same: bool = False
    operation: str = "read"
    offered: list[int] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        self.offered.append(len(offered))
        self.told.append(history[-1].text)
        if not offered:
            return ModelReply(says("I had to stop."), cost_usd=self.cost_usd)
        number = "same" if self.same else str(len(self.offered))
        return ModelReply(calls(self.operation, arguments={"x": number}), cost_usd=self.cost_usd)


@dataclass
class EndRecord(FakeRecord):
    head: str = ""

    def started(self, working_directory: str, model: str) -> None:
        self.filed.append(("started", model))

    def resumed(self, model: str) -> None:
        self.filed.append(("resumed", model))

    def ended(self, end: SessionEnd) -> None:
        self.filed.append(("ended", end))


def session(model: Insisting, bounds: Bounds | None = None, **doubles: Any) -> Session:
    spending = doubles.pop("spending", None) or Spending()
    bound, _, _, frontend = ports(**doubles)
    record = EndRecord()
    bound = TurnPorts(model, bound.providers, record, frontend, bound.decide, bound.deadline_s)
    return Session(
        "s", "/work", OFFERED, bound, record, bounds=bounds or Bounds(), spending=spending
    )


@pytest.mark.req("K20")
async def test_at_a_bound_the_model_is_told_and_answers_once_without_tools() -> None:
    model = Insisting()
    run = session(model, Bounds(max_turns=4))
    end = await run.run("go")
    assert end.status is SessionStatus.ERROR_MAX_TURNS
    assert end.final_text == "I had to stop."
    assert model.offered == [3, 3, 3, 3, 0]
    assert "limit of 4 turns is reached" in model.told[-1]
    assert run.history[-1].blocks == (Text("I had to stop."),)


@pytest.mark.req("K20", "K21")
async def test_a_bound_is_the_end_though_the_model_fails_at_its_last_words() -> None:
    class Overloaded(Insisting):
        async def reply(self, *asked: Any) -> ModelReply:
            reply = await super().reply(*asked)
            if not self.offered[-1]:
                raise ModelFailed("overloaded")
            return reply

    end = await session(Overloaded(), Bounds(max_turns=2)).run("go")
    assert end.status is SessionStatus.ERROR_MAX_TURNS
    assert "limit of 2 turns is reached" in end.reason
    assert "overloaded" in end.reason


@pytest.mark.req("K20")
async def test_money_is_counted_here_and_in_every_session_above() -> None:
    top = Spending()
    middle = Spending(parent=top)
    run = session(
        Insisting(cost_usd=0.25), Bounds(max_cost_usd=0.75), spending=Spending(parent=middle)
    )
    end = await run.run("go")
    assert end.status is SessionStatus.ERROR_MAX_BUDGET_USD
    assert top.now.cost_usd == middle.now.cost_usd == run.spending.now.cost_usd == 1.0
    other = session(Insisting(), Bounds(max_cost_usd=1.0), spending=top)
    assert (await other.run("go")).status is SessionStatus.ERROR_MAX_BUDGET_USD


@pytest.mark.req("K20", "K30")
async def test_what_a_resumed_session_had_spent_still_counts() -> None:
    model = Insisting()
    run = session(model, Bounds(max_turns=4), spending=Spending(before=Spent(turns=3)))
    assert (await run.run("go")).status is SessionStatus.ERROR_MAX_TURNS
    assert model.offered == [3, 0]


@pytest.mark.req("K20")
async def test_a_call_that_runs_when_the_time_is_over_is_cancelled_and_answered() -> None:
    async def never_ends(call: Call) -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            report = Failure(ErrorCategory.CANCELLED, "stopped half way")
            raise CallCancelled(report) from error
        raise AssertionError

    model = Insisting()
    run = session(
        model, Bounds(max_wall_clock_s=0.05), providers=FakeProviders(behaviour=never_ends)
    )
    end = await asyncio.wait_for(run.run("go"), 30)
    assert end.status is SessionStatus.ERROR_MAX_WALL_CLOCK
    assert model.offered == [3, 0]
    outcomes = [
        block.outcome for m in run.history for block in m.blocks if hasattr(block, "outcome")
    ]
    assert outcomes == [Failure(ErrorCategory.CANCELLED, "stopped half way")]


@pytest.mark.req("K17", "K20")
async def test_an_interrupt_is_not_taken_for_the_end_of_the_time() -> None:
    started = asyncio.Event()

    async def never_ends(call: Call) -> Outcome:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    run = session(
        Insisting(), Bounds(max_wall_clock_s=600), providers=FakeProviders(behaviour=never_ends)
    )
    task = asyncio.create_task(run.run("go"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(run.record, EndRecord)
    (end,) = (filed for kind, filed in run.record.filed if kind == "ended")
    assert isinstance(end, SessionEnd)
    assert end.status is SessionStatus.CANCELLED


@pytest.mark.req("K17", "K20")
@pytest.mark.parametrize("reports", [False, True])
async def test_an_interrupt_that_comes_just_as_the_time_runs_out_is_an_interrupt(
    reports: bool,
) -> None:
    async def interrupted_while_it_is_stopped(call: Call) -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            task.cancel()
            if reports:
                failure = Failure(ErrorCategory.CANCELLED, "stopped half way")
                raise CallCancelled(failure) from None
            raise
        raise AssertionError

    model = Insisting()
    behaviour = FakeProviders(behaviour=interrupted_while_it_is_stopped)
    run = session(model, Bounds(max_wall_clock_s=0.05), providers=behaviour)
    task = asyncio.create_task(run.run("go"))
    done, _ = await asyncio.wait([task], timeout=30)
    assert done
    assert task.cancelled()
    assert isinstance(run.record, EndRecord)
    (end,) = (filed for kind, filed in run.record.filed if kind == "ended")
    assert isinstance(end, SessionEnd)
    assert end.status is SessionStatus.CANCELLED
    assert model.offered == [3], "no last words for whoever was told to stop"


@pytest.mark.req("K18")
async def test_a_model_that_repeats_itself_is_stopped_and_told_why() -> None:
    model = Insisting(same=True)
    end = await session(model).run("go")
    assert (end.status, model.offered) == (SessionStatus.FAILED, [3, 3, 3, 0])
    assert "same call of toy.read was made 3 times" in end.reason


@pytest.mark.req("K18")
async def test_asking_a_person_the_same_thing_again_is_no_doom_loop() -> None:
    model = Insisting(same=True, operation="ask")
    frontend = FakeFrontend(answers=lambda item, changed: None, interactive_answer={"yes": "no"})
    end = await session(model, Bounds(max_turns=5), frontend=frontend).run("go")
    assert end.status is SessionStatus.ERROR_MAX_TURNS


@pytest.mark.req("K19")
async def test_denials_turn_after_turn_break_the_session() -> None:
    model = Insisting(operation="write")
    end = await session(model, decide=lambda call: Verdict(Decision.DENY, "rule no")).run("go")
    assert (end.status, len(model.offered)) == (SessionStatus.FAILED, 4)
    assert "denied" in end.reason


@pytest.mark.req("K19", "K6")
async def test_questions_that_are_denied_turn_after_turn_break_the_session() -> None:
    model = Insisting(operation="ask")
    end = await session(model, decide=lambda call: Verdict(Decision.DENY, "rule no")).run("go")
    assert (end.status, len(model.offered)) == (SessionStatus.FAILED, 4)
    assert "denied" in end.reason


@pytest.mark.req("K19")
async def test_crashes_turn_after_turn_break_the_session() -> None:
    async def crash(call: Call) -> Outcome:
        return Failure(ErrorCategory.PROCESS_CRASHED, "gone")

    model = Insisting()
    end = await session(model, providers=FakeProviders(behaviour=crash)).run("go")
    assert (end.status, len(model.offered)) == (SessionStatus.FAILED, 4)
    assert "crashed" in end.reason


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    ("status", "denied", "code"),
    [
        (SessionStatus.COMPLETED, False, 0),
        (SessionStatus.COMPLETED, True, 3),
        (SessionStatus.FAILED, True, 1),
        (SessionStatus.ERROR_MAX_TURNS, True, 4),
        (SessionStatus.ERROR_MAX_BUDGET_USD, False, 4),
        (SessionStatus.ERROR_MAX_WALL_CLOCK, False, 4),
    ],
)
def test_the_exit_code_tells_how_a_session_ended(
    status: SessionStatus, denied: bool, code: int
) -> None:
    assert exit_code(SessionEnd("s", status), denied=denied) == code


@pytest.mark.req("K20", "K30")
async def test_a_further_prompt_goes_on_with_history_and_budget_and_is_a_resume_in_the_record() -> (
    None
):
    model = Insisting()
    run = session(model, Bounds(max_turns=2))
    assert (await run.run("first")).status is SessionStatus.ERROR_MAX_TURNS
    end = await run.go_on("second")
    assert end.status is SessionStatus.ERROR_MAX_TURNS
    assert model.offered == [3, 3, 0, 3, 3, 0], "each prompt has its turns, and last words"
    assert model.told.count("second") == 1 and model.told[0] == "first"
    assert [message.text for message in run.history if message.text in ("first", "second")] == [
        "first",
        "second",
    ]
    filed = [entry[0] for entry in run.record.filed if entry[0] in ("started", "resumed", "ended")]  # type: ignore[attr-defined]
    assert filed == ["started", "ended", "resumed", "ended"]


@pytest.mark.req("K18")
async def test_what_a_model_repeated_before_a_further_prompt_is_not_held_against_it() -> None:
    model = Insisting(same=True)
    run = session(model)
    assert (await run.run("go")).status is SessionStatus.FAILED
    assert len(model.offered) == 4, "three alike, and the last words"
    assert (await run.go_on("again")).status is SessionStatus.FAILED
    assert len(model.offered) == 8


@pytest.mark.req("K20")
async def test_the_time_between_two_prompts_is_nobodys() -> None:
    now = 0.0
    spending = Spending(clock=lambda: now)
    run = session(Insisting(), Bounds(max_turns=0), spending=spending)
    await run.run("go")
    now = 1000.0
    assert spending.now.wall_clock_s == 0
    await run.go_on("more")
    assert spending.now.wall_clock_s == 0


@pytest.mark.req("K20")
async def test_once_the_money_is_spent_a_further_prompt_ends_without_asking_the_model() -> None:
    model = Insisting(cost_usd=1.0)
    run = session(model, Bounds(max_cost_usd=2.0))
    assert (await run.run("first")).status is SessionStatus.ERROR_MAX_BUDGET_USD
    asked = len(model.offered)
    for _ in range(2):
        end = await run.go_on("more")
        assert end.status is SessionStatus.ERROR_MAX_BUDGET_USD
        assert "raise the bound" in end.reason
    assert len(model.offered) == asked == 3
    run.bounds = Bounds(max_cost_usd=5.0)
    await run.go_on("now there is more")
    assert len(model.offered) == asked + 3, "two turns and the last words"


@pytest.mark.req("K12")
async def test_after_a_call_that_terminates_the_turn_its_result_is_the_last_word() -> None:
    finish = operation("finish", Kind.RESOURCE, terminates_turn=True)
    told: list[HookPayload] = []

    class Watching:
        async def run(self, payload: HookPayload) -> HookEnd:
            told.append(payload)
            return HookEnd(payload)

    async def behaviour(call: Call) -> Outcome:
        return Success({"summary": f"did {call.operation.name}"})

    run = session(Insisting(), providers=FakeProviders(behaviour=behaviour))
    model = ListModel([calls("finish", "read"), says("one more word")])
    run.ports = replace(run.ports, model=model, hooks=Watching())
    run.offered = (*OFFERED, finish)
    end = await run.run("go")
    assert (end.status, end.final_text) == (SessionStatus.COMPLETED, "did finish")
    assert sum(isinstance(one, BeforeModel) for one in told) == 1, "no further model call"
    ended = [one.call.operation.name for one in told if isinstance(one, AfterCall)]
    assert ended == ["finish", "read"]
    assert (await run.go_on("and now?")).final_text == "one more word", "the person was next"


@pytest.mark.req("K11")
async def test_plan_mode_turned_on_between_two_prompts_takes_the_resources_away() -> None:
    model = Insisting()
    run = session(model, Bounds(max_turns=1))
    await run.run("go")
    run.mode.plan = True
    await run.go_on("look only")
    assert [one.name for one in run.in_scope] == ["read", "ask"]
    assert model.offered == [3, 0, 2, 0]
