"""Who may start a child, with what, and who waits for whom (K14, K22-K24, P23, K20, K10)."""

import asyncio
from pathlib import Path

import pytest
from family import (
    EVERYTHING,
    LIMIT_S,
    Watching,
    Written,
    below,
    calls,
    failure,
    kernel,
    outcomes,
    results,
    says,
    spec,
)

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.event import EventKind, Producer
from pluggableharness.kernel.domain.message import Message
from pluggableharness.kernel.domain.news import CallEnded, CallStarted, FromChild
from pluggableharness.kernel.domain.outcome import ErrorCategory, Success
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.plugins import calls as plugin_calls
from pluggableharness.kernel.store.reading import read_meta


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pluggableharness" / "sessions"


@pytest.mark.req("P23")
async def test_a_child_that_needs_its_callers_lock_is_told_who_holds_it(tmp_path: Path) -> None:
    child = Written([calls("nesting.change"), says("I tried")])
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, [Profile("child", EVERYTHING)], {"child": child}) as made,
        made.session(Written([calls("nesting.alone", profile="child")]), watching) as session,
    ):
        await session.run("go")
    assert results(session.history) == [Success({"text": "I tried"})]
    (conflict,) = [failure(outcome) for outcome in below(watching.heard)]
    assert conflict.category is ErrorCategory.CONCURRENCY_CONFLICT
    (caller,) = {news.call.id for news in watching.heard if isinstance(news, CallStarted)}
    assert caller in conflict.message


@pytest.mark.req("P23")
async def test_a_grandchild_is_told_of_the_lock_of_the_call_two_levels_up(tmp_path: Path) -> None:
    leaf = Written([calls("nesting.change"), says("leaf")])
    middle = Written([calls("other.beside", profile="leaf"), says("middle")])
    profiles = [Profile("middle", ("other.*",), depth=1), Profile("leaf", EVERYTHING)]
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path,
            profiles,
            {"middle": middle, "leaf": leaf},
            providers=(spec(), spec("other")),
        ) as made,
        made.session(Written([calls("nesting.alone", profile="middle")]), watching) as session,
    ):
        await session.run("go")
    (caller,) = {news.call.id for news in watching.heard if isinstance(news, CallStarted)}
    (conflict,) = [failure(outcome) for outcome in below(watching.heard, level=2)]
    assert conflict.category is ErrorCategory.CONCURRENCY_CONFLICT
    assert caller in conflict.message


@pytest.mark.req("P23")
async def test_a_child_passes_a_queued_call_that_waits_for_its_caller(tmp_path: Path) -> None:
    queued = asyncio.Event()

    async def when_queued() -> Message:
        await queued.wait()
        return calls("nesting.look")

    child = Written([when_queued, says("done")])
    profiles = [Profile("child", EVERYTHING)]
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, profiles, {"child": child}) as made,
        made.session(Written([calls("nesting.beside", profile="child")]), Watching()) as one,
        made.session(Written([calls("nesting.change")]), Watching()) as other,
    ):
        parent = asyncio.create_task(one.run("go"))
        while not child.offered:
            await asyncio.sleep(0)
        behind = asyncio.create_task(other.run("go"))
        seat = made._processes._seats["nesting", None]
        while not seat.locks._queue:
            await asyncio.sleep(0)
        queued.set()
        await parent
        await behind
    assert results(one.history) == [Success({"text": "done"})]
    assert results(other.history) == [Success({"text": "changed"})]


@pytest.mark.req("K28")
async def test_an_event_for_a_session_that_has_ended_is_refused(tmp_path: Path) -> None:
    """Its provider may live on with other sessions, and has some seconds to speak for this one."""
    late = Producer("nesting"), EventKind.MEMORY_WRITE, "1", b"late"
    async with asyncio.timeout(LIMIT_S), kernel(tmp_path) as made:
        async with made.session(Written([says("done")]), Watching()) as session:
            await session.run("go")
        with pytest.raises(UsageError, match="has ended"):
            await made._file(session.id, *late)


@pytest.mark.req("K14")
async def test_the_clock_of_a_call_stands_still_while_its_child_runs(tmp_path: Path) -> None:
    async def late() -> Message:
        await asyncio.sleep(3.5)  # longer than the caller's deadline: that is what is tested
        return says("late, and welcome")

    child = Written([late])
    root = calls("nesting.hurried", profile="child")
    found = await outcomes(tmp_path, root, Profile("child"), child=child)
    assert found == [Success({"text": "late, and welcome"})]


@pytest.mark.req("K22")
async def test_a_waiting_caller_leaves_its_place_in_flight_to_its_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_calls, "MAX_IN_FLIGHT", 1)
    child = Written([calls("nesting.look"), says("seen")])
    root = calls("nesting.beside", profile="child")
    assert await outcomes(tmp_path, root, Profile("child", EVERYTHING), child=child) == [
        Success({"text": "seen"})
    ]


@pytest.mark.req("K22")
async def test_an_unknown_profile_is_an_error_that_names_those_that_there_are(
    tmp_path: Path,
) -> None:
    root = calls("nesting.beside", profile="tester")
    (outcome,) = await outcomes(tmp_path, root, Profile("testing"), testing=Written([]))
    assert failure(outcome).category is ErrorCategory.NOT_FOUND
    assert "testing" in failure(outcome).message


@pytest.mark.req("K22")
async def test_a_child_that_breaks_off_is_an_error_of_the_call(tmp_path: Path) -> None:
    """Case agent-user-task-03: an error result for the parent, not an exception."""

    async def breaks() -> Message:
        raise RuntimeError("a bug of the model's adapter")

    root = calls("nesting.beside", profile="broken")
    (outcome,) = await outcomes(tmp_path, root, Profile("broken"), broken=Written([breaks]))
    assert failure(outcome).category is ErrorCategory.EXECUTION_FAILED
    assert "broke off" in failure(outcome).message


@pytest.mark.req("K17", "K24")
async def test_a_child_whose_caller_ended_before_it_is_cancelled_and_the_turn_waits_for_that(
    tmp_path: Path, state: Path
) -> None:
    async def for_ever() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")

    child = Written([calls("nesting.look"), for_ever])
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, [Profile("child", EVERYTHING)], {"child": child}) as made,
        made.session(Written([calls("nesting.leave", profile="child")]), watching) as session,
    ):
        end = await session.run("go")
    assert end.status is SessionStatus.COMPLETED
    assert results(session.history) == [Success({"text": "left it alone"})]
    ends = [one for one in watching.heard if isinstance(one, CallEnded | FromChild)]
    assert isinstance(ends[-1], CallEnded), "the caller's end is the last of it"
    logs = sorted(state.glob("*.sqlite"))
    assert [read_meta(log)["status"] for log in logs] == ["completed", "cancelled"]


@pytest.mark.req("K10", "K23")
async def test_a_childs_question_goes_to_the_roots_frontend_with_its_path(tmp_path: Path) -> None:
    leaf = Written([calls("nesting.change"), says("did")])
    middle = Written([calls("nesting.beside", profile="leaf"), says("had it done")])
    profiles = [Profile("middle", EVERYTHING, depth=1), Profile("leaf", EVERYTHING)]
    watching = Watching(attended=True)
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path, profiles, {"middle": middle, "leaf": leaf}, allow_all=False
        ) as made,
        made.session(Written([calls("nesting.look"), calls("nesting.beside", profile="middle")]),
                     watching) as session,
    ):  # fmt: skip
        await session.run("go")
    assert [item.call.context.path for item in watching.asked] == [
        (),
        ("middle",),
        ("middle", "leaf"),
    ]


@pytest.mark.req("K17")
async def test_cancelling_a_session_ends_all_below_it_each_in_its_own_record(
    tmp_path: Path, state: Path
) -> None:
    reached = asyncio.Event()

    async def for_ever() -> Message:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")

    leaf = Written([for_ever])
    middle = Written([calls("nesting.beside", profile="leaf")])
    profiles = [Profile("middle", EVERYTHING, depth=1), Profile("leaf")]
    async with asyncio.timeout(LIMIT_S), kernel(
        tmp_path, profiles, {"middle": middle, "leaf": leaf}
    ) as made:  # fmt: skip
        root = Written([calls("nesting.beside", profile="middle")])
        async with made.session(root, Watching()) as session:
            running = asyncio.create_task(session.run("go"))
            await reached.wait()
            running.cancel()
            await asyncio.wait([running])
            assert running.cancelled()
        assert not made._logs, "every record is closed"
    logs = sorted(state.glob("*.sqlite"))
    assert [read_meta(log)["status"] for log in logs] == ["cancelled"] * 3
    assert [read_meta(log).get("parent") for log in logs] == [None, logs[0].stem, logs[1].stem]
