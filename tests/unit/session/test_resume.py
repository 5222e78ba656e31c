"""Going on with a session from its record alone, wherever the kernel before had ended."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from store_logs import SESSION, TOY
from unit.session.recorded import SAID, bound, cut, results, resume, well_formed, whole_log
from unit.turn.doubles import FakeFrontend, FakeProviders, calls, says

from pluggableharness.kernel.codec.record import outcome_payload
from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.message import INTERRUPTED, Message, ModelReply, Role, Text
from pluggableharness.kernel.domain.message import NOTHING_USED as NOTHING
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.session.spending import Spending
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import read_events, verify
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.store.story import story
from pluggableharness.kernel.turn.ports import TextHeard
from pluggableharness.wire import kernel_pb2


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
