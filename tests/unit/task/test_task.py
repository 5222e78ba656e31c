"""The task provider: a list that survives, with ids that are given once (C19)."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.providers.task.provider import provider
from pluggableharness.sdk.testing import Tool, opened

WAIT = 10.0

pytestmark = pytest.mark.req("C19")


async def create(tool: Tool, title: str, **more: Any) -> str:
    outcome = await tool("task_create", title=title, **more)
    return str(outcome.payload["task"]["id"])


async def titles(tool: Tool, **more: Any) -> list[str]:
    return [task["title"] for task in (await tool("task_list", **more)).payload["tasks"]]


async def test_tasks_come_back_in_the_order_in_which_they_were_created(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        for title in ("b", "a", "c"):
            await create(tool, title)
        assert await titles(tool) == ["b", "a", "c"]


async def test_a_project_without_tasks_has_an_empty_list_and_gets_no_folder(
    tmp_path: Path,
) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        assert (await tool("task_list")).payload == {"tasks": [], "total": 0, "truncated": False}
    assert list(tmp_path.iterdir()) == []


async def test_ids_are_never_used_again_and_the_list_survives_a_restart(tmp_path: Path) -> None:
    """Case agent-user-task-07."""
    async with opened(provider, cwd=tmp_path) as tool:
        first, second, third = [await create(tool, title) for title in "abc"]
        for gone in (second, third):
            await tool("task_update", id=gone, status="cancelled")
        fourth = await create(tool, "d")
        before = (await tool("task_list")).payload
    async with opened(provider, cwd=tmp_path) as tool:
        assert (await tool("task_list")).payload == before
    assert len({first, second, third, fourth}) == 4


async def test_fifty_tasks_created_at_once_have_fifty_ids(tmp_path: Path) -> None:
    """Case agent-user-task-07: the provider may be called by many sessions and processes."""
    async with opened(provider, cwd=tmp_path) as one, opened(provider, cwd=tmp_path) as other:
        made = [create(tool, f"n{n}") for n in range(25) for tool in (one, other)]
        assert len(set(await asyncio.gather(*made))) == 50


async def test_a_task_that_depends_on_itself_or_in_a_circle_is_refused_and_nothing_stored(
    tmp_path: Path,
) -> None:
    """Case agent-user-task-06."""
    async with opened(provider, cwd=tmp_path) as tool:
        a = await create(tool, "a")
        b = await create(tool, "b", depends_on=[a])
        c = await create(tool, "c", depends_on=[b])
        before = (await tool("task_list")).payload
        for needed, circle in ((a, "t1 -> t1"), (b, "t1 -> t2 -> t1"), (c, "t1 -> t3 -> t2 -> t1")):
            refused = await tool("task_update", id=a, title="changed", depends_on=[needed])
            assert refused.error is not None
            assert refused.error.category == "invalid_arguments"
            assert circle in refused.error.message
        assert (await tool("task_list")).payload == before


async def test_a_dependency_that_is_completed_counts_as_met(tmp_path: Path) -> None:
    """Case agent-user-task-06: the last one of its inputs."""
    async with opened(provider, cwd=tmp_path) as tool:
        a, b = await create(tool, "a"), await create(tool, "b")
        await tool("task_update", id=a, status="completed")
        task = (await tool("task_update", id=b, depends_on=[a])).payload["task"]
        assert task["depends_on"] == [a]


@pytest.mark.parametrize("unknown", ["t9", "9", "", "t", "tx", "t9999999999999999999999", "T1"])
async def test_an_unknown_id_is_not_found_and_the_latest_are_named(
    tmp_path: Path, unknown: str
) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        await create(tool, "paint the fence")
        outcome = await tool("task_update", id=unknown, status="completed")
        assert outcome.error is not None
        assert outcome.error.category == "not_found"
        assert "t1 paint the fence" in outcome.error.message


async def test_only_the_given_fields_change(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        task_id = await create(tool, "a", description="more")
        outcome = await tool("task_update", id=task_id, status="in_progress")
        assert outcome.payload["task"] == {
            "id": task_id,
            "title": "a",
            "description": "more",
            "status": "in_progress",
        }
        nothing = await tool("task_update", id=task_id)
        assert nothing.error is not None
        assert nothing.error.category == "invalid_arguments"


@pytest.mark.parametrize("title", ["", " \n\t"])
async def test_a_title_that_says_nothing_is_refused(tmp_path: Path, title: str) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        await create(tool, "a")
        for operation, named in (("task_create", {}), ("task_update", {"id": "t1"})):
            refused = await tool(operation, title=title, **named)
            assert refused.error and refused.error.category == "invalid_arguments"
            assert refused.error.message.startswith("title is blank")
        assert await titles(tool) == ["a"]


async def test_a_list_that_is_cut_says_so_and_how_much_there_is(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        for title in "abc":
            await create(tool, title)
        payload = (await tool("task_list", limit=2)).payload
        assert (len(payload["tasks"]), payload["total"], payload["truncated"]) == (2, 3, True)
        assert await titles(tool, status="completed") == []


async def test_sessions_share_a_projects_list_unless_each_is_to_have_its_own(
    tmp_path: Path,
) -> None:
    async with opened(provider, cwd=tmp_path, session_id="one") as tool:
        await create(tool, "shared")
    own = {"scope": "session"}
    async with opened(provider, cwd=tmp_path, session_id="one", settings=own) as tool:
        await create(tool, "mine")
        assert await titles(tool) == ["mine"]
    async with opened(provider, cwd=tmp_path, session_id="two") as tool:
        assert await titles(tool) == ["shared"]
    async with opened(provider, cwd=tmp_path, session_id="two", settings=own) as tool:
        assert await titles(tool) == []


async def test_a_link_in_the_stores_place_is_not_followed(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / ".agent").symlink_to(outside)
    async with opened(provider, cwd=project) as tool:
        outcome = await tool("task_create", title="x")
        assert outcome.error is not None
        assert outcome.error.category == "permission_denied"
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["tasks.sqlite", "tasks.sqlite-journal", "tasks.sqlite-wal"])
@pytest.mark.parametrize("what", ["pipe", "link"])
async def test_what_is_no_regular_file_in_the_stores_place_is_never_opened(
    tmp_path: Path, name: str, what: str
) -> None:
    place = tmp_path / ".agent" / name
    place.parent.mkdir()
    if what == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero")
    async with opened(provider, cwd=tmp_path) as tool, asyncio.timeout(WAIT):
        outcome = await tool("task_create", title="x")
    assert outcome.error is not None and f"{place} is no regular file" in outcome.error.message


async def test_a_link_where_git_is_told_what_to_ignore_is_not_written_through(
    tmp_path: Path,
) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / ".gitignore").symlink_to(tmp_path / "elsewhere")
    async with opened(provider, cwd=tmp_path) as tool:
        await create(tool, "x")
    assert not (tmp_path / "elsewhere").exists()


async def test_a_store_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "tasks.sqlite").write_text("not a database, by any means\n" * 100)
    async with opened(provider, cwd=tmp_path) as tool:
        outcome = await tool("task_create", title="x")
        assert outcome.error is not None
        assert outcome.error.category == "execution_failed"
        assert "task list cannot be used" in outcome.error.message
