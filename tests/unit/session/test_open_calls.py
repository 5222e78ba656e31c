"""Calls that a kernel left open, settled when their session goes on (K27)."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store_logs import SESSION, TOY
from unit.session.recorded import (
    WRITE,
    bound,
    cut,
    interrupted,
    outcomes,
    results,
    resume,
    well_formed,
    whole_log,
)
from unit.turn.doubles import CONTEXT, FakeFrontend, FakeProviders, calls, says

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.hook import BeforeCall, HookEnd, HookPayload
from pluggableharness.kernel.domain.message import NOTHING_USED as NOTHING
from pluggableharness.kernel.domain.news import CallEnded, CallStarted
from pluggableharness.kernel.domain.outcome import LEFT_OPEN, NEVER_SENT, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Review, Reviewer, Verdict
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import read_events
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.store.story import story


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
@pytest.mark.parametrize("policy", [Decision.ALLOW, Decision.ASK])
@pytest.mark.parametrize("review", [None, Review(Reviewer("r"), Verdict(Decision.ALLOW, "r"))])
async def test_a_person_is_told_and_asked_about_what_may_have_run_whoever_else_would_decide(
    tmp_path: Path, allow: bool, policy: Decision, review: Review | None
) -> None:
    path = await interrupted(tmp_path / "logs", calls("write"), says("done"))
    asked: list[str] = []

    def answer(item: Any, changed: str) -> Answer:
        asked.append(item.verdict.reason)
        return Answer(allow)

    frontend, providers = FakeFrontend(answers=answer), FakeProviders()
    session, _, _ = await resume(
        path,
        calls("write"),
        says("done"),
        frontend=frontend,
        providers=providers,
        decide=lambda call: Verdict(policy, "rule r", "why", review=review),
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
