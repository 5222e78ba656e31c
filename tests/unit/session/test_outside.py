"""Sessions whose calls come from outside: gated like any, at the same time, one record (K34)."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from store_logs import SESSION, TOY
from unit.turn.doubles import (
    FakeFrontend,
    FakeProviders,
    FakeRecord,
    ask_resources,
    operation,
    ports,
)

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import CallCancelled
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.hook import HookEnd, HookPayload
from pluggableharness.kernel.domain.message import Role, ToolResult
from pluggableharness.kernel.domain.news import News
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import (
    LEFT_OPEN,
    ErrorCategory,
    Failure,
    Outcome,
    Success,
)
from pluggableharness.kernel.domain.plan import Answer
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.session.outside import Elsewhere, OutsideCalls
from pluggableharness.kernel.session.session import Mode, Session
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import recorded_session
from pluggableharness.kernel.store.reading import read_events
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.store.story import Prompted, story
from pluggableharness.kernel.turn.hooks import NO_HOOKS, Hooks

WAIT = 25.0
OFFERED = (operation("read"), operation("write", Kind.RESOURCE, safe=False))


class EndRecord(FakeRecord):
    """With the first entry of a session and its last."""

    head = ""

    def started(self, working_directory: str, model: str) -> None:
        self.filed.append(("started", model))

    def resumed(self, model: str) -> None:
        self.filed.append(("resumed", model))

    def ended(self, end: SessionEnd) -> None:
        self.filed.append(("ended", end))


class Forbidding:
    """Hooks that say no to whatever they are asked."""

    async def run(self, payload: HookPayload) -> HookEnd:
        return HookEnd(payload, Verdict(Decision.DENY, "hook h", "closed today"))


def outside(
    providers: FakeProviders | None = None,
    frontend: FakeFrontend | None = None,
    record: EndRecord | SessionLog | None = None,
    mode: Mode | None = None,
    hooks: Hooks = NO_HOOKS,
) -> tuple[OutsideCalls, FakeFrontend]:
    record = record or EndRecord()
    bound, *_, frontend = ports(providers=providers, frontend=frontend, decide=ask_resources)
    bound = replace(bound, record=record, model=Elsewhere("a client"), hooks=hooks)
    session = Session(SESSION, "/work", OFFERED, bound, record, mode=mode or Mode())
    return OutsideCalls(session), frontend


class Gate:
    """Lets calls whose x is "slow" wait until it opens."""

    def __init__(self) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    async def __call__(self, call: Call) -> Outcome:
        if call.arguments.get("x") == "slow":
            self.reached.set()
            try:
                await self.open.wait()
            except asyncio.CancelledError:
                raise CallCancelled(Failure(ErrorCategory.CANCELLED, "half done")) from None
        return Success({"x": call.arguments.get("x", "")})


@pytest.mark.req("K34", "K2")
async def test_a_call_passes_schema_policy_and_gate_and_comes_back_as_an_outcome() -> None:
    record = EndRecord()
    made, _ = outside(
        frontend=FakeFrontend(answers=lambda item, changed: Answer(False, "not today")),
        record=record,
    )
    async with made as calls:
        assert await calls.call("toy.read", {"x": "1"}) == Success({"did": "read"})
        denied = await calls.call("toy.write", {})
        wrong = await calls.call("toy.read", {"y": 1})
        unknown = await calls.call("toy.gone", {})
    assert isinstance(denied, Failure)
    assert denied.category is ErrorCategory.PERMISSION_DENIED
    assert "not today" in denied.message
    assert isinstance(wrong, Failure)
    assert wrong.category is ErrorCategory.INVALID_ARGUMENTS
    assert isinstance(unknown, Failure)
    assert unknown.category is ErrorCategory.NOT_FOUND
    assert record.kinds()[0] == "started"
    assert record.filed[-1] == ("ended", SessionEnd(SESSION, SessionStatus.COMPLETED))
    assert record.kinds().count("message") == 5


@pytest.mark.req("K34", "K13")
async def test_calls_run_at_the_same_time_and_the_record_tells_them_apart(tmp_path: Path) -> None:
    gate = Gate()
    log = EventLog.create(tmp_path / "sessions", SESSION)
    record = SessionLog(log, lambda provider: replace(TOY, name=provider))
    made, frontend = outside(
        FakeProviders(gate),
        FakeFrontend(answers=lambda item, changed: Answer(True)),
        record,
    )
    async with asyncio.timeout(WAIT), made as calls:
        slow = asyncio.create_task(calls.call("toy.write", {"x": "slow"}))
        await gate.reached.wait()
        assert await calls.call("toy.read", {"x": "quick"}) == Success({"x": "quick"})
        assert await calls.call("toy.write", {"x": "other"}) == Success({"x": "other"})
        assert not slow.done()
        gate.open.set()
        assert await slow == Success({"x": "slow"})
    await log.close()
    past = recorded_session(read_events(log.path), 0.0)
    assert past.left is None
    assert past.warnings == ()
    prompt, *rest = past.history
    assert prompt.text == "Calls of a client"
    assert [message.role for message in rest] == [Role.ASSISTANT, Role.USER] * 3
    for said, answered in zip(rest[::2], rest[1::2], strict=True):
        (result,) = answered.blocks
        assert isinstance(result, ToolResult)
        assert result.tool_use_id == said.calls[0].tool_use_id
        assert result.outcome == Success(dict(said.calls[0].arguments))  # type: ignore[arg-type]
    told = [one.piece for one in story(read_events(log.path))]
    news: list[News] = [piece for piece in told if not isinstance(piece, Prompted)]
    # A record knows less of an operation than a live call does.
    assert Counter(map(type, news)) == Counter(map(type, frontend.heard))


@pytest.mark.req("K34", "K27")
async def test_calls_that_a_crash_leaves_open_are_told_apart(tmp_path: Path) -> None:
    gate = Gate()
    log = EventLog.create(tmp_path / "sessions", SESSION)
    record = SessionLog(log, lambda provider: replace(TOY, name=provider))
    made, _ = outside(FakeProviders(gate), record=record)
    async with asyncio.timeout(WAIT):
        calls = await made.__aenter__()
        slow = asyncio.create_task(calls.call("toy.read", {"x": "slow"}))
        await gate.reached.wait()
        await calls.call("toy.read", {"x": "quick"})
        events = list(read_events(log.path))
        past = recorded_session(events, 0.0)
        slow.cancel()
        await asyncio.wait([slow])
        await log.close()
    assert past.left is None
    _, _, first, _, second = past.history
    assert first.blocks[0].outcome == LEFT_OPEN  # type: ignore[union-attr]
    assert second.blocks[0].outcome == Success({"x": "quick"})  # type: ignore[union-attr]


@pytest.mark.req("K34", "K17")
async def test_cancelling_the_caller_ends_its_call_alone_and_files_how_far_it_got() -> None:
    gate, record = Gate(), EndRecord()
    made, _ = outside(FakeProviders(gate), record=record)
    async with asyncio.timeout(WAIT), made as calls:
        slow = asyncio.create_task(calls.call("toy.read", {"x": "slow"}))
        await gate.reached.wait()
        slow.cancel()
        await asyncio.wait([slow])
        assert slow.cancelled()
        assert await calls.call("toy.read", {"x": "next"}) == Success({"x": "next"})
    filed = [one for kind, one in record.filed if kind == "outcome"]
    assert filed[0][1] == Failure(ErrorCategory.CANCELLED, "half done")  # type: ignore[index]


@pytest.mark.req("K34", "K17")
async def test_leaving_the_block_ends_what_runs_and_nothing_runs_afterwards() -> None:
    gate, record = Gate(), EndRecord()
    made, _ = outside(FakeProviders(gate), record=record)

    started: list[asyncio.Task[Outcome]] = []

    async def leave() -> None:
        async with made as calls:
            started.append(asyncio.create_task(calls.call("toy.read", {"x": "slow"})))
            await gate.reached.wait()
            raise LookupError

    async with asyncio.timeout(WAIT):
        with pytest.raises(LookupError):
            await leave()
        cut_off = await started[0]
        late = await made.call("toy.read", {})
    assert isinstance(cut_off, Failure)
    assert isinstance(late, Failure)
    assert {cut_off.category, late.category} == {ErrorCategory.CANCELLED}
    kind, end = record.filed[-1]
    assert kind == "ended"
    assert isinstance(end, SessionEnd)
    assert end.status is SessionStatus.CANCELLED


@pytest.mark.req("K11", "K34")
async def test_in_plan_mode_no_resource_may_be_called() -> None:
    made, _ = outside(mode=Mode(plan=True))
    async with made as calls:
        assert [one.name for one in calls.operations] == ["read"]
        outcome = await calls.call("toy.write", {})
    assert isinstance(outcome, Failure)
    assert outcome.category is ErrorCategory.NOT_FOUND


@pytest.mark.req("K25", "K34")
async def test_a_hook_that_forbids_the_session_ends_it_before_any_call() -> None:
    record = EndRecord()
    made, _ = outside(record=record, hooks=Forbidding())
    with pytest.raises(ModelFailed, match="closed today"):
        await made.__aenter__()
    assert record.kinds() == ["started", "ended"]
