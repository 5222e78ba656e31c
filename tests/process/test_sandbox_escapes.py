"""R8: each way out of the sandbox is refused, and what it aimed at is as it was."""

from collections.abc import Iterator

import pytest
from process.sandboxes import bash, kind, tool  # noqa: F401  # fixtures

from bench.survive.attempts import CHANGING, EVERYWHERE
from bench.survive.scene import Scene, set_up
from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk.testing import Tool, opened

pytestmark = pytest.mark.req("R8", "C14")


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    made = set_up()
    yield made
    made.close()


@pytest.mark.parametrize("attempt", EVERYWHERE)
async def test_a_way_out_is_refused(tool: Tool, scene: Scene, attempt: str) -> None:  # noqa: F811
    await refuse(tool, scene, EVERYWHERE[attempt])


@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize("attempt", CHANGING)
async def test_what_landlock_does_not_see_is_refused_too(
    tool: Tool,  # noqa: F811
    scene: Scene,
    attempt: str,
) -> None:
    await refuse(tool, scene, CHANGING[attempt])


async def refuse(tool: Tool, scene: Scene, attempt: str) -> None:  # noqa: F811
    outcome = await bash(tool, scene.fill(attempt))
    assert outcome.payload["exit_code"] != 0, outcome.payload["output"]
    assert scene.touched() == []


ALSO_INSIDE = ["write to a file outside", "rename what is outside", "connect to a socket by path"]


@pytest.mark.parametrize("attempt", ["read an environment", "connect to a port", *ALSO_INSIDE])
async def test_the_attempts_get_through_where_there_is_no_sandbox(attempt: str) -> None:
    """Else their failing would prove nothing."""
    scene = set_up()
    try:
        assert await _unconfined(scene.fill(EVERYWHERE[attempt])) == 0
    finally:
        scene.close()


async def _unconfined(command: str) -> int:
    async with opened(provider, settings={"sandbox": "none"}) as tool:  # noqa: F811
        return int((await bash(tool, command)).payload["exit_code"])
