"""Going on with a session from its record alone, wherever the kernel before had ended."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store_logs import SESSION, TOY, direct
from unit.turn.doubles import (
    CONTEXT,
    FakeFrontend,
    FakeProviders,
    calls,
    operation,
    ports,
    says,
)

from pluggableharness.kernel.codec.record import outcome_payload
from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.hook import BeforeCall, HookEnd, HookPayload
from pluggableharness.kernel.domain.message import (
    INTERRUPTED,
    Message,
    ModelReply,
    Role,
    Text,
    ToolResult,
)
from pluggableharness.kernel.domain.message import NOTHING_USED as NOTHING
from pluggableharness.kernel.domain.news import CallEnded, CallStarted, Notice
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import LEFT_OPEN, NEVER_SENT, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.session.spending import Spending
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import read_events, verify
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.store.story import story
from pluggableharness.kernel.turn.hooks import NO_HOOKS, Hooks
from pluggableharness.kernel.turn.ports import TextHeard
from pluggableharness.wire import kernel_pb2

READ = operation("read")
WRITE = operation("write", Kind.RESOURCE)
PUT = operation("put", Kind.RESOURCE, idempotent=True)
OFFERED = (READ, WRITE, PUT)
SAID = (calls("read", "write", "put", "gone"), says("done"))


def bound(log: EventLog, *said: Message, hooks: Hooks = NO_HOOKS, **doubles: Any) -> Session:
    made, *_ = ports(*said, **doubles)
    record = SessionLog(log, lambda provider: replace(TOY, name=provider))
    return Session(SESSION, "/work", OFFERED, replace(made, record=record, hooks=hooks), record)


async def whole_log(directory: Path, *said: Message, **doubles: Any) -> Path:
    log = EventLog.create(directory, SESSION)
    await bound(log, *said, **doubles).run("go")
    await log.close()
    return log.path


def cut(path: Path, rows: int) -> None:
    """Leave the first rows alone: a log as a kernel leaves it that was killed behind them."""
    with direct(path) as connection:
        connection.execute("DELETE FROM events WHERE sequence > ?", (rows,))


async def resume(
    path: Path, *said: Message, prompt: str | None = None, **doubles: Any
) -> tuple[Session, SessionEnd, RecordedSession]:
    log = EventLog.open(path)
    before = read_session(path)
    session = bound(log, *said, **doubles)
    session.spending = Spending(before.spent)
    end = await session.resume(before, prompt)
    await log.close()
    return session, end, before


def results(history: list[Message]) -> list[ToolResult]:
    return [block for m in history for block in m.blocks if isinstance(block, ToolResult)]


def outcomes(history: list[Message]) -> dict[str, Outcome]:
    return {result.name: result.outcome for result in results(history)}


def well_formed(history: list[Message]) -> bool:
    """Whether every message with calls is followed by one result for each (K2)."""
    return all(
        [call.tool_use_id for call in message.calls]
        == [block.tool_use_id for block in history[at + 1].blocks if isinstance(block, ToolResult)]
        for at, message in enumerate(history)
        if message.calls
    )


@pytest.mark.req("K27", "K30", "R2")
async def test_a_session_cut_off_after_any_row_goes_on_and_every_call_has_its_result(
    tmp_path: Path,
) -> None:
    """Case session-log-03."""
    rows = len(list(read_events(await whole_log(tmp_path / "whole", *SAID))))
    assert rows > 12
    for kept in range(1, rows + 1):
        path = await whole_log(tmp_path / f"cut-{kept}", *SAID)
        cut(path, kept)
        session, end, _ = await resume(path, *SAID)
        assert end.status is SessionStatus.COMPLETED, kept
        assert well_formed(session.history), kept
        assert verify(path).ok
        again = read_session(path)
        assert again.left is None, kept
        assert list(again.history) == session.history, kept


async def interrupted(directory: Path, *said: Message) -> Path:
    """A log that ends with the intents of the message's sent calls."""
    path = await whole_log(directory, *said)
    sent = [event.sequence for event in read_events(path) if event.kind == "tool_call"]
    first_result = [e.sequence for e in read_events(path) if e.kind == "tool_result"]
    assert sent[0] < first_result[0]
    cut(path, sent[0])
    return path


@pytest.mark.req("K27")
@pytest.mark.parametrize(
    ("name", "expected", "ran"),
    [
        ("write", LEFT_OPEN, []),
        ("put", Success({"did": "put"}), ["start put", "end put"]),
        ("read", Success({"did": "read"}), ["start read", "end read"]),
    ],
)
async def test_what_may_have_run_runs_again_only_when_that_does_no_harm(
    tmp_path: Path, name: str, expected: Outcome, ran: list[str]
) -> None:
    path = await interrupted(tmp_path / "logs", calls(name), says("done"))
    providers = FakeProviders()
    session, end, _ = await resume(path, calls(name), says("done"), providers=providers)
    assert end.status is SessionStatus.COMPLETED
    assert outcomes(session.history) == {f"toy.{name}": expected}
    assert providers.trace == ran


@pytest.mark.req("K27")
@pytest.mark.parametrize("allow", [True, False])
async def test_a_person_is_asked_about_what_may_have_run(tmp_path: Path, allow: bool) -> None:
    path = await interrupted(tmp_path / "logs", calls("write"), says("done"))
    asked: list[str] = []

    def answer(item: Any, changed: str) -> Answer:
        asked.append(item.verdict.reason)
        return Answer(allow)

    frontend, providers = FakeFrontend(answers=answer), FakeProviders()
    session, _, _ = await resume(
        path, calls("write"), says("done"), frontend=frontend, providers=providers
    )
    assert asked == ["it is not known whether this call ran already"]
    expected = Success({"did": "write"}) if allow else LEFT_OPEN
    assert outcomes(session.history) == {"toy.write": expected}
    assert bool(providers.trace) is allow


@pytest.mark.req("K27")
async def test_policy_is_asked_anew_before_anything_runs_again(tmp_path: Path) -> None:
    path = await interrupted(tmp_path / "logs", calls("put"), says("done"))
    providers = FakeProviders()

    def deny(call: Call) -> Verdict:
        return Verdict(Decision.DENY, "rule no")

    session, _, _ = await resume(path, calls("put"), says("done"), providers=providers, decide=deny)
    assert outcomes(session.history) == {"toy.put": LEFT_OPEN}
    assert providers.trace == []


@pytest.mark.req("K25", "K27")
@pytest.mark.parametrize("name", ["put", "read"])
async def test_hooks_are_asked_anew_before_anything_runs_again(tmp_path: Path, name: str) -> None:
    class Forbidding:
        async def run(self, payload: HookPayload) -> HookEnd:
            no = isinstance(payload, BeforeCall)
            return HookEnd(payload, Verdict(Decision.DENY, "hook", "no") if no else None)

    path = await interrupted(tmp_path / "logs", calls(name), says("done"))
    providers = FakeProviders()
    session, end, _ = await resume(
        path, calls(name), says("done"), providers=providers, hooks=Forbidding()
    )
    assert end.status is SessionStatus.COMPLETED
    assert outcomes(session.history) == {f"toy.{name}": LEFT_OPEN}
    assert providers.trace == []


class Endless:
    """A call that runs until it is cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Event()

    async def __call__(self, call: Call) -> Outcome:
        self.started.set()
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.req("K2", "K17", "K30")
async def test_what_an_interrupt_leaves_open_once_more_is_in_the_history_as_in_the_record(
    tmp_path: Path,
) -> None:
    path = await interrupted(tmp_path / "logs", calls("put", "read"), says("done"))
    log, before, endless = EventLog.open(path), read_session(path), Endless()
    session = bound(log, says("and on"), providers=FakeProviders(endless))
    resuming = asyncio.create_task(session.resume(before))
    await asyncio.wait_for(endless.started.wait(), 30)
    resuming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await resuming
    assert well_formed(session.history)
    assert outcomes(session.history) == {"toy.put": LEFT_OPEN, "toy.read": NEVER_SENT}
    await session.go_on("go on without them")
    await log.close()
    assert list(read_session(path).history) == session.history


@pytest.mark.req("K20", "K30")
async def test_the_time_of_a_session_bounds_what_runs_again_in_it(tmp_path: Path) -> None:
    path = await interrupted(tmp_path / "logs", calls("put"), says("done"))
    log, before = EventLog.open(path), read_session(path)
    session = bound(log, says("I had to stop."), providers=FakeProviders(Endless()))
    session.bounds = Bounds(max_wall_clock_s=0.05)
    end = await asyncio.wait_for(session.resume(before), 30)
    await log.close()
    assert end.status is SessionStatus.ERROR_MAX_WALL_CLOCK
    assert outcomes(session.history) == {"toy.put": LEFT_OPEN}


@pytest.mark.req("K27", "K30")
async def test_a_result_of_no_call_is_left_out_with_a_warning(tmp_path: Path) -> None:
    """Case session-log-03."""
    log = EventLog.create(tmp_path / "logs", SESSION)
    record = SessionLog(log, lambda provider: TOY)
    record.started("/work", "list")
    stray = outcome_payload("9", Success({"x": 1}))
    log.append(EventKind.TOOL_RESULT, stray, schema_version="event.v1")
    await log.close()
    frontend = FakeFrontend()
    session, end, before = await resume(log.path, says("done"), prompt="go", frontend=frontend)
    assert (end.status, results(session.history)) == (SessionStatus.COMPLETED, [])
    assert len(before.warnings) == 1
    assert Notice("warning", before.warnings[0]) in frontend.heard


@pytest.mark.req("K28", "K30")
async def test_what_a_provider_emits_is_told_by_neither_history_nor_replay(tmp_path: Path) -> None:
    said = (calls("read"), says("done"))
    log = EventLog.create(tmp_path / "logs", SESSION)

    async def emitting(call: Call) -> Outcome:
        for kind in kernel_pb2.EventKind.keys()[1:]:
            if "TOOL" not in kind:  # those are refused, or not filed as they come
                emitted = EventKind(kind.removeprefix("EVENT_KIND_").lower())
                log.append(emitted, b"\xff", schema_version="event.v1", producer=TOY)
        return Success({"did": "read"})

    session = bound(log, *said, providers=FakeProviders(emitting))
    await session.run("go")
    await log.close()
    assert list(read_session(log.path).history) == session.history
    told = [type(piece.piece).__name__ for piece in story(read_events(log.path))]
    assert told == [
        *("SessionStarted", "Prompted", "MessageArrived", "CallStarted", "CallEnded"),
        *("MessageArrived", "SessionEnded"),
    ]


@pytest.mark.req("K30")
async def test_a_completed_session_goes_on_with_a_new_prompt_and_its_whole_history(
    tmp_path: Path,
) -> None:
    path = await whole_log(tmp_path / "logs", calls("read"), says("done"))
    first = read_session(path)
    session, end, _ = await resume(
        path, calls("read"), says("done"), says("and more"), prompt="and now?"
    )
    assert (end.status, end.final_text) == (SessionStatus.COMPLETED, "and more")
    assert tuple(session.history[: len(first.history)]) == first.history
    assert session.history[len(first.history)].text == "and now?"
    assert [e.kind for e in read_events(path)][-1] == "session"


@pytest.mark.req("K17", "K30")
async def test_a_cancelled_session_goes_on(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def never_ends(call: Call) -> Outcome:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    log = EventLog.create(tmp_path / "logs", SESSION)
    run = bound(log, calls("read"), providers=FakeProviders(behaviour=never_ends))
    task = asyncio.create_task(run.run("go"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await log.close()
    session, end, _ = await resume(log.path, calls("read"), says("done"))
    assert end.status is SessionStatus.COMPLETED
    assert well_formed(session.history)


@pytest.mark.req("K17", "K30")
async def test_what_was_seen_of_an_interrupted_message_is_gone_on_from(tmp_path: Path) -> None:
    class Breaking:
        name = "breaking"

        def __init__(self) -> None:
            self.seen = asyncio.Event()

        async def reply(
            self, history: Sequence[Message], offered: Sequence[Operation], heard: TextHeard
        ) -> ModelReply:
            await heard("lost")
            await heard(Notice("warning", "it is asked again"))
            await heard("Half of ")
            await heard("it")
            self.seen.set()
            await asyncio.Event().wait()
            raise AssertionError

    model = Breaking()
    log = EventLog.create(tmp_path / "logs", SESSION)
    run = bound(log)
    run.ports = replace(run.ports, model=model)
    task = asyncio.create_task(run.run("go"))
    await model.seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await log.close()
    kept = run.history[-1]
    assert (kept.role, kept.blocks, kept.interrupted) == (
        Role.ASSISTANT,
        (Text("Half of it"), INTERRUPTED),
        True,
    )
    session, end, before = await resume(log.path, says("Half of it"), says("The rest."))
    assert before.history == tuple(run.history)
    assert before.spent.turns == 0
    assert end.final_text == "The rest."
    assert [message.role for message in session.history] == [Role.USER, Role.ASSISTANT] * 2
    assert "Go on" in session.history[2].text


@pytest.mark.req("K20", "K30")
async def test_budgets_go_on_as_they_were_spent(tmp_path: Path) -> None:
    path = await whole_log(tmp_path / "logs", calls("read"), says("done"))
    before = read_session(path)
    assert before.spent.turns == 2
    assert before.spent.wall_clock_s > 0
    log = EventLog.open(path)
    session = bound(log, calls("read"), says("done"), calls("write"))
    session.spending, session.bounds = Spending(before.spent), Bounds(max_turns=2)
    end = await session.resume(before, "more")
    assert end.status is SessionStatus.ERROR_MAX_TURNS
    await log.close()


@pytest.mark.req("K30")
async def test_the_time_between_two_runs_costs_nothing_and_a_clock_set_back_neither(
    tmp_path: Path,
) -> None:
    seconds = iter([100, 101, 103, 50, 51, 5000, 5001])

    def clock() -> int:
        return next(seconds) * 1_000_000_000

    log = EventLog.create(tmp_path / "logs", SESSION, clock=clock)
    record = SessionLog(log, lambda provider: TOY)
    record.started("/work", "list")
    for _ in range(4):
        record.message(says("x"), NOTHING, 0.0)
    record.resumed("list")
    record.message(says("y"), NOTHING, 0.0)
    await log.close()
    assert read_session(log.path).spent.wall_clock_s == pytest.approx(3 + 1 + 1)


@pytest.mark.req("K2", "K27")
async def test_what_was_never_sent_says_so(tmp_path: Path) -> None:
    path = await whole_log(tmp_path / "logs", calls("write", "put"), says("done"))
    message = next(e.sequence for e in read_events(path) if e.kind == "plan")
    cut(path, message)
    session, _, _ = await resume(path, calls("write", "put"), says("done"))
    assert [result.outcome for result in results(session.history)] == [NEVER_SENT, NEVER_SENT]


@pytest.mark.req("K27", "K30", "P17")
async def test_only_the_last_attempt_at_a_call_counts(tmp_path: Path) -> None:
    log = EventLog.create(tmp_path / "logs", SESSION)
    record = SessionLog(log, lambda provider: TOY)
    record.started("/work", "list")
    message = replace(calls("write"), id="turn")
    record.message(message, NOTHING, 0.0)
    call = Call("id", WRITE, {}, CONTEXT, "use-0")
    record.decision(call, Verdict(Decision.ALLOW, "test"))
    record.call(call)
    record.outcome(call, LEFT_OPEN)
    record.call(call)
    await record.durable()
    left = read_session(log.path).left
    assert left is not None
    assert (left.uses[0].sent, left.uses[0].outcome) == (True, None)
    record.outcome(call, Success({}))
    await log.close()
    assert outcomes(list(read_session(log.path).history)) == {"toy.write": Success({})}
    told = [piece.piece for piece in story(read_events(log.path))]
    assert [one.outcome for one in told if isinstance(one, CallEnded)] == [Success({})]
    assert sum(isinstance(one, CallStarted) for one in told) == 1


ASKED = Verdict(Decision.ASK, "default for resource")
EDITED = calls("put", arguments={"x": "old"})


def edits_once() -> FakeFrontend:
    """A person who changes the arguments, and then allows what is shown."""
    answers = [Answer(True, arguments={"x": "new"}), Answer(True)]
    return FakeFrontend(lambda item, changed: answers.pop(0) if len(answers) > 1 else answers[0])


@pytest.mark.req("K10", "K27", "K30")
async def test_what_a_person_changed_is_told_after_a_resume_as_it_was_live(tmp_path: Path) -> None:
    log = EventLog.create(tmp_path, SESSION)
    live = bound(log, EDITED, says("done"), frontend=edits_once(), decide=lambda call: ASKED)
    await live.run("go")
    await log.close()
    session, *_ = await resume(log.path, says("more"), prompt="go on")
    (result,) = results(live.history)
    assert 'x is now "new" (was "old")' in result.note
    assert results(session.history) == [result]


@pytest.mark.req("K10", "K27")
async def test_an_edited_call_that_was_cut_short_runs_again_as_edited(tmp_path: Path) -> None:
    whole = await whole_log(
        tmp_path, EDITED, says("done"), frontend=edits_once(), decide=lambda call: ASKED
    )
    (intent,) = [one.sequence for one in read_events(whole) if one.kind == EventKind.TOOL_CALL]
    cut(whole, intent)
    ran: list[object] = []

    async def behaviour(call: Call) -> Outcome:
        ran.append(call.arguments)
        return Success({})

    session, *_ = await resume(whole, says("done"), providers=FakeProviders(behaviour))
    (result,) = results(session.history)
    assert ran == [{"x": "new"}]
    assert 'x is now "new" (was "old")' in result.note
