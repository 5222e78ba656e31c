"""Who may start a child, with what, and who waits for whom (K14, K22-K24, P23, K20, K10)."""

import asyncio
from pathlib import Path

import pytest
from family import LIMIT_S, Watching, Written, calls, failure, kernel, results, says, spec

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.event import EventKind, Producer
from pluggableharness.kernel.domain.message import Message
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallStarted,
    FromChild,
    News,
    SessionEnded,
)
from pluggableharness.kernel.domain.outcome import ErrorCategory, Outcome, Success
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.plugins import calls as plugin_calls
from pluggableharness.kernel.policy import Action, Rule
from pluggableharness.kernel.session.children import Member
from pluggableharness.kernel.store.reading import read_meta, read_spent

EVERYTHING = ("nesting.*",)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pluggableharness" / "sessions"


async def outcomes(
    directory: Path, root: Message, *profiles: Profile, **models: Written
) -> list[Outcome]:
    """The results of the one message of a root session."""
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(directory, profiles, models) as made,
        made.session(Written([root]), Watching()) as session,
    ):
        await session.run("go")
    return results(session.history)


def ended(frontend: Watching) -> list[SessionStatus]:
    """How the children ended."""
    return [
        one.news.end.status
        for one in frontend.heard
        if isinstance(one, FromChild) and isinstance(one.news, SessionEnded)
    ]


def below(heard: list[News], level: int = 1) -> list[Outcome]:
    """How the calls of the sessions so many levels down ended, in that order."""
    return [
        one.news.outcome
        for one in heard
        if isinstance(one, FromChild) and isinstance(one.news, CallEnded) and len(one.path) == level
    ]


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


@pytest.mark.req("K23")
async def test_depth_only_shrinks_and_ends_in_a_refusal(tmp_path: Path) -> None:
    """Case agent-user-task-02: whoever calls, there is no session below depth 0."""
    again = calls("nesting.beside", profile="again")
    deep = Written([again, says("came back")])
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, [Profile("again", EVERYTHING, depth=9)], {"again": deep}) as made,
        made.session(Written([again]), watching) as session,
    ):
        await session.run("go")
    paths = {len(one.path) for one in watching.heard if isinstance(one, FromChild)}
    assert paths == {1, 2, 3}
    refused = [
        outcome
        for one in watching.heard
        if isinstance(one, FromChild) and len(one.path) == 3
        and (outcome := getattr(one.news, "outcome", None)) is not None
    ]  # fmt: skip
    assert failure(refused[0]).category is ErrorCategory.PERMISSION_DENIED


@pytest.mark.req("K23")
async def test_a_request_may_lower_the_depth_and_never_raise_it(tmp_path: Path) -> None:
    again = calls("nesting.beside", profile="leaf")
    lowered = Written([again, says("end")])
    root = calls("nesting.beside", profile="lowered", depth=1)
    profiles = [Profile("lowered", EVERYTHING, depth=2), Profile("leaf", EVERYTHING, depth=9)]
    watching = Watching()
    leaf = Written([calls("nesting.beside", profile="leaf")])
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, profiles, {"lowered": lowered, "leaf": leaf}) as made,
        made.session(Written([root]), watching) as session,
    ):
        await session.run("go")
    assert {len(one.path) for one in watching.heard if isinstance(one, FromChild)} == {1, 2}


@pytest.mark.req("K23")
async def test_a_child_is_offered_its_profiles_tools_and_no_spawning_at_depth_0(
    tmp_path: Path,
) -> None:
    narrow, wide = Written([says("a")]), Written([says("b")])
    root = Message(
        calls().role,
        (
            *calls("nesting.beside", profile="narrow").blocks,
            *calls("nesting.beside", "nesting.beside", profile="bare").blocks[1:],
        ),
    )
    bare = Written([says("c")])
    profiles = [Profile("narrow", ("nesting.look",)), Profile("bare"), Profile("wide", EVERYTHING)]
    await outcomes(tmp_path, root, *profiles, narrow=narrow, bare=bare, wide=wide)
    assert narrow.offered == [["nesting.look"]]
    assert bare.offered == [[]], "a profile without tools has none"


@pytest.mark.req("K23")
async def test_tools_are_narrowed_for_a_child_and_for_all_below_it(tmp_path: Path) -> None:
    middle = Written([calls("nesting.beside", profile="leaf"), says("middle")])
    leaf = Written([says("leaf")])
    both = ("nesting.beside", "other.look")
    profiles = [Profile("middle", both, depth=1), Profile("leaf", both, depth=1)]
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path,
            profiles,
            {"middle": middle, "leaf": leaf},
            providers=(spec(), spec("other")),
        ) as made,
        made.session(
            Written([calls("nesting.beside", profile="middle", providers=["nesting"])]), Watching()
        ) as session,
    ):
        await session.run("go")
    assert middle.offered[0] == leaf.offered[0] == ["nesting.beside"]


@pytest.mark.req("K23", "C20")
async def test_narrowing_to_what_the_profile_has_not_is_an_error_that_says_what_it_has(
    tmp_path: Path,
) -> None:
    root = calls("nesting.beside", profile="child", providers=["exec", "nesting"])
    (outcome,) = await outcomes(tmp_path, root, Profile("child", EVERYTHING), child=Written([]))
    assert failure(outcome).category is ErrorCategory.INVALID_ARGUMENTS
    assert "no tools of 'exec'" in failure(outcome).message
    assert "some of: nesting" in failure(outcome).message


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


@pytest.mark.req("K24")
async def test_no_more_children_run_at_once_than_the_parent_may_have(tmp_path: Path) -> None:
    """Case agent-user-task-02: fifty in one message, and all of them get their turn."""
    running = most = asked = 0
    family: list[Member] = []

    async def counted() -> Message:
        nonlocal running, most, asked
        running += 1
        most = max(most, running)
        while asked < 50:  # until all fifty have asked for their child
            asked = max(asked, len(family[0].children))
            await asyncio.sleep(0)
        running -= 1
        return says("one of many")

    root = calls(*["nesting.beside"] * 50, profile="many")
    own = Profile("own", EVERYTHING, depth=1, max_concurrent_subagents=3)
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, [Profile("many")], {"many": Written([counted])}, profile=own) as made,
        made.session(Written([root]), Watching()) as session,
    ):
        family.append(made._family._members[session.id])
        await session.run("go")
    assert results(session.history) == [Success({"text": "one of many"})] * 50
    assert most == 3


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


@pytest.mark.req("K20", "K23")
@pytest.mark.parametrize(("own", "asked"), [(1.0, 5.0), (5.0, 1.0), (None, 1.0)])
async def test_the_least_that_anyone_says_is_what_a_child_may_spend(
    tmp_path: Path, own: float | None, asked: float
) -> None:
    busy = Written([calls("nesting.look")] * 9, cost_usd=0.4)
    child = Profile("busy", EVERYTHING, Bounds(max_cost_usd=own, doom_loop=None))
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, [child], {"busy": busy}) as made,
        made.session(
            Written([calls("nesting.beside", profile="busy", cost=asked)]), watching
        ) as session,
    ):
        end = await session.run("go")
    assert end.status is SessionStatus.COMPLETED
    assert ended(watching) == [SessionStatus.ERROR_MAX_BUDGET_USD]
    assert len(busy.offered) == 4, "three turns, and the last words"


@pytest.mark.req("K20", "K23")
async def test_spend_counts_against_everyone_above_and_ends_who_is_below(
    tmp_path: Path, state: Path
) -> None:
    busy = Written([calls("nesting.look")] * 2 + [calls("nesting.look", *[])] * 9, cost_usd=0.4)
    own = Profile("own", EVERYTHING, Bounds(max_cost_usd=1.0), depth=1)
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path,
            [Profile("busy", EVERYTHING, Bounds(doom_loop=None))],
            {"busy": busy},
            profile=own,
        ) as made,
        made.session(Written([calls("nesting.beside", profile="busy")]), watching) as session,
    ):
        end = await session.run("go")
        spent = session.spending.now.cost_usd
    assert ended(watching) == [SessionStatus.ERROR_MAX_BUDGET_USD]
    assert end.status is SessionStatus.ERROR_MAX_BUDGET_USD
    assert spent == pytest.approx(1.6), "three turns, and the last words"
    log = state / f"{session.id}.sqlite"
    assert read_spent(log)[0] == pytest.approx(1.6)


@pytest.mark.req("K20")
async def test_two_children_end_when_together_they_have_spent_what_is_there(
    tmp_path: Path,
) -> None:
    busy = Written([calls("nesting.look")] * 50, cost_usd=0.25)
    own = Profile("own", EVERYTHING, Bounds(max_cost_usd=2.0), depth=1)
    watching = Watching()
    root = calls("nesting.beside", "nesting.beside", profile="busy")
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path,
            [Profile("busy", EVERYTHING, Bounds(doom_loop=None))],
            {"busy": busy},
            profile=own,
        ) as made,
        made.session(Written([root]), watching) as session,
    ):
        await session.run("go")
        spent = session.spending.now.cost_usd
    assert ended(watching) == [SessionStatus.ERROR_MAX_BUDGET_USD] * 2
    assert spent <= 2.0 + 3 * 0.25, "at most one turn too many, and two times last words"


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


@pytest.mark.req("K23", "K5")
async def test_what_is_denied_stays_denied_below_and_what_is_not_listed_does_not(
    tmp_path: Path,
) -> None:
    """Case agent-user-task-01: denials hold for the tree; a tool list is the profile's alone."""
    child = Written([calls("nesting.look", "nesting.change"), says("tried")])
    watching = Watching()
    deny = Rule("no changes", Action.DENY, tool_name=frozenset({"change"}), reason="not today")
    own = Profile("own", ("nesting.beside",), depth=1)
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path,
            [Profile("child", EVERYTHING)],
            {"child": child},
            profile=own,
            rules=(deny,),
        ) as made,
        made.session(Written([calls("nesting.beside", profile="child")]), watching) as session,
    ):
        await session.run("go")
    found = below(watching.heard)
    assert Success({"text": "seen"}) in found
    (denied,) = [failure(one) for one in found if not isinstance(one, Success)]
    assert "no changes" in denied.message


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
