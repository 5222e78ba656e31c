"""The three operations stay beneath their roots, also while names are swapped (C1, R3)."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from bench.survive.siege import INSIDE, Siege
from pluggableharness.providers.filesystem.provider import provider
from pluggableharness.sdk.failures import ToolFailure
from pluggableharness.sdk.testing import Outcome, Tool, opened

pytestmark = pytest.mark.req("C1")

TRIES = 300

FAILURES: dict[str, type[ToolFailure]] = {
    each.category: each for each in ToolFailure.__subclasses__()
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {}),
    ("write_file", {"content": "x"}),
    ("edit_file", {"old_str": "secret", "new_str": "x"}),
]


@pytest.mark.parametrize(("operation", "arguments"), CALLS)
async def test_no_operation_leaves_the_root(
    unguarded: Tool, folder: Path, operation: str, arguments: dict[str, Any]
) -> None:
    """Cases jail-02 and jail-03."""
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "leak").symlink_to(outside / "secret")
    (folder / "d").symlink_to(outside)
    (folder / "p").symlink_to("/proc/self/root")
    for path in (
        "leak",
        "d/secret",
        "d/new",
        "p/etc/passwd",
        "../outside/secret",
        "../outside/new/new",
        str(outside / "secret"),
        "/proc/self/environ",
        "/etc/passwd",
    ):
        error = (await unguarded(operation, path=path, **arguments)).error
        assert error is not None, path
        assert error.category == "permission_denied"
        assert path in error.message
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_text() == "secret"


async def test_allowed_roots_take_the_place_of_the_working_directory(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "f").write_text("x")
    (folder / "f").write_text("y")
    settings = {"allowed_roots": [str(tmp_path / "data")]}
    async with opened(provider, cwd=folder, settings=settings) as tool:
        assert (await tool("read_file", path=str(tmp_path / "data" / "f"))).error is None
        error = (await tool("read_file", path="f")).error
        assert error is not None
        assert error.category == "permission_denied"
        assert str(tmp_path / "data") in error.message


async def test_a_root_of_everything_reads_anything_but_processes(folder: Path) -> None:
    """Cases jail-01 and jail-03."""
    async with opened(provider, cwd=folder, settings={"allowed_roots": ["/"]}) as tool:
        assert (await tool("read_file", path="/etc/hostname")).error is None
        for path in ("/proc/self/environ", "/proc/1/environ", "/dev/fd/0", "/proc/self/mem"):
            error = (await tool("read_file", path=path)).error
            assert error is not None
            assert error.category == "permission_denied"


def _got(outcome: Outcome) -> bytes:
    """What an attempt brought; a failure is raised, for the attack to count."""
    if outcome.error is not None:
        raise FAILURES[outcome.error.category](outcome.error.message)
    return str(outcome.payload.get("content", "")).encode()


@pytest.mark.req("R3")
@pytest.mark.parametrize("inside_a_folder", [True, False], ids=["folder", "file"])
@pytest.mark.parametrize(("operation", "arguments"), CALLS)
def test_an_attacker_that_swaps_names_gets_nothing(
    tmp_path: Path, inside_a_folder: bool, operation: str, arguments: dict[str, Any]
) -> None:
    """Case jail-06 through the whole provider."""
    siege = Siege(tmp_path, folder=inside_a_folder)
    if operation == "edit_file":
        arguments = {"old_str": INSIDE.decode(), "new_str": INSIDE.decode() + "!"}
        arguments["replace_all"] = True
    settings = {"require_read": False}
    with asyncio.Runner() as runner:

        async def attempt(path: str) -> bytes:
            async with opened(provider, cwd=siege.root, settings=settings) as tool:
                return _got(await tool(operation, path=path, **arguments))

        seen = siege.run(TRIES, lambda path: runner.run(attempt(path)))
    siege.assert_nothing_outside_was_touched()
    assert sum(seen.values()) == TRIES
    if operation == "read_file":
        assert seen["inside"] > 0
