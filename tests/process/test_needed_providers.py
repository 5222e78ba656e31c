"""A session starts the providers that it needs, and names those of them that fail (K15, P2)."""

import asyncio
import sys
from pathlib import Path

import pytest
from family import LIMIT_S, Watching, Written, calls, kernel, says, spec

from pluggableharness.kernel.domain.errors import ProviderUnavailable
from pluggableharness.kernel.domain.hook import HookMode, HookPoint, Subscription
from pluggableharness.kernel.domain.news import FromChild, News, Notice
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.plugins.spec import ProviderSpec

GONE = ProviderSpec("gone", (sys.executable, "-c", "raise SystemExit(4)"))
"""Whether it was started shows in that it is absent from then on."""

BOTH = (spec(), GONE)
NESTING = Profile("root", ("nesting.*",), depth=1)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def warned(heard: list[News]) -> list[bool]:
    """Of each notice, whether it says that the provider is left out."""
    return ["gone is left out" in news.message for news in heard if isinstance(news, Notice)]


async def played(
    tmp_path: Path, tools: tuple[str, ...] | None
) -> tuple[set[str], list[bool], set[str]]:
    """What a session of these tools comes to: the providers it is offered, its warnings as
    `warned`, and the providers that were tried and are left out."""
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, providers=BOTH, profile=Profile("root", tools)) as made,
        made.session(Written([says("done")]), watching) as session,
    ):
        await session.run("go")
        offered = {one.provider for one in session.offered}
        return offered, warned(watching.heard), set(made.absent)


@pytest.mark.req("K15")
@pytest.mark.parametrize("tools", [("nesting.alone",), ("nesting.*", "elsewhere.*")])
async def test_a_provider_of_no_tool_of_the_profile_is_not_started(
    tmp_path: Path, tools: tuple[str, ...]
) -> None:
    assert await played(tmp_path, tools) == ({"nesting"}, [], set())


@pytest.mark.req("K15")
async def test_a_profile_without_tools_starts_nothing(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, providers=(GONE,), profile=Profile("root", ())) as made,
        made.session(Written([says("done")]), Watching()) as session,
    ):
        assert (await session.run("go")).final_text == "done"
        assert made.absent == {}


@pytest.mark.req("K15", "P2")
@pytest.mark.parametrize("tools", [("nesting.*", "gone.look"), None])
async def test_one_that_a_tool_needs_is_named_when_it_fails(
    tmp_path: Path, tools: tuple[str, ...] | None
) -> None:
    _, warnings, absent = await played(tmp_path, tools)
    assert (warnings, absent) == ([True], {"gone"})


@pytest.mark.req("K15", "K25", "F4")
async def test_one_that_a_hook_needs_is_started_and_held_against_the_lock_before_any_call(
    tmp_path: Path,
) -> None:
    hook = Subscription(HookPoint.POST_APPLY, "gone", HookMode.OBSERVE, 5.0)
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, providers=BOTH, profile=NESTING, hooks=(hook,)) as made,
        made.session(Written([says("done")]), watching) as session,
    ):
        assert "exited with code 4" in made.absent["gone"]
        await session.run("go")
    assert warned(watching.heard) == [True]


@pytest.mark.req("K15", "K22", "P2")
async def test_what_a_child_needs_is_started_with_it_and_named_there(tmp_path: Path) -> None:
    child = Profile("child", ("gone.*", "nesting.*"))
    root = Written([calls("nesting.alone", profile="child")])
    watching = Watching()
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(
            tmp_path, [child], {"child": Written([says("no")])}, providers=BOTH, profile=NESTING
        ) as made,
        made.session(root, watching) as session,
    ):
        assert made.absent == {}
        await session.run("go")
        assert "gone" in made.absent
    assert warned(watching.heard) == []
    assert warned([one.news for one in watching.heard if isinstance(one, FromChild)]) == [True]


@pytest.mark.req("P2")
async def test_without_any_that_it_needs_there_is_no_session_whatever_else_could_be_had(
    tmp_path: Path,
) -> None:
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(tmp_path, providers=BOTH, profile=Profile("root", ("gone.*",))) as made,
    ):
        with pytest.raises(ProviderUnavailable, match="exited with code 4"):
            async with made.session(Written([says("done")]), Watching()):
                pass
        assert {one.provider for one in await made.operations()} == {"nesting"}
