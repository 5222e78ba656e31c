"""What a session below another may do, spend and start (K20, K23, K24)."""

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
    ended,
    failure,
    kernel,
    outcomes,
    results,
    says,
    spec,
)

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.message import Message
from pluggableharness.kernel.domain.news import FromChild
from pluggableharness.kernel.domain.outcome import ErrorCategory, Success
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.policy import Action, Rule
from pluggableharness.kernel.session.children import Member
from pluggableharness.kernel.store.reading import read_spent


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pluggableharness" / "sessions"


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
