"""write_file never loses a change that its session has not seen (C3)."""

import os
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.providers.filesystem import provider as provider_module
from pluggableharness.providers.filesystem import writing
from pluggableharness.sdk.testing import Tool

pytestmark = pytest.mark.req("C3")


async def test_an_existing_file_that_was_not_read_is_refused(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("v1\n")
    error = (await tool("write_file", path="f", content="v2\n")).error
    assert error is not None
    assert error.category == "execution_failed"
    assert "was not read in this session" in error.message
    assert "read_file" in error.message
    assert (folder / "f").read_text() == "v1\n"
    await tool("read_file", path="f", start_line=1, end_line=1)
    assert (await tool("write_file", path="f", content="v2\n")).payload["created"] is False
    assert (folder / "f").read_text() == "v2\n"


async def test_what_one_session_read_another_has_not(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("v1\n")
    await tool("read_file", path="f", session_id="one")
    error = (await tool("write_file", path="f", content="v2\n", session_id="two")).error
    assert error is not None
    assert "was not read in this session" in error.message


async def test_a_read_through_one_spelling_counts_for_the_others(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("v1\n")
    (folder / "link").symlink_to("f")
    await tool("read_file", path="link")
    assert (await tool("write_file", path=str(folder / "f"), content="v2\n")).error is None


async def test_require_read_can_be_turned_off(unguarded: Tool, folder: Path) -> None:
    (folder / "f").write_text("v1\n")
    assert (await unguarded("write_file", path="f", content="v2\n")).error is None


async def test_a_change_by_somebody_else_is_not_written_over(tool: Tool, folder: Path) -> None:
    """Case filesystem-18."""
    (folder / "f").write_bytes(b"v1\n")
    await tool("read_file", path="f")
    (folder / "f").write_bytes(b"v2 user\n")
    error = (await tool("write_file", path="f", content="v3\n")).error
    assert error is not None
    assert "has changed since this session read it" in error.message
    assert (folder / "f").read_bytes() == b"v2 user\n"
    await tool("read_file", path="f")
    assert (await tool("write_file", path="f", content="v3\n")).error is None


async def test_own_edits_and_writes_are_no_change_by_somebody_else(
    tool: Tool, folder: Path
) -> None:
    """Case filesystem-19."""
    (folder / "f").write_text("one\n")
    await tool("read_file", path="f")
    for old, new in (("one", "two"), ("two", "three")):
        assert (await tool("edit_file", path="f", old_str=old, new_str=new)).error is None
    for content in ("four\n", "five\n"):
        assert (await tool("write_file", path="f", content=content)).error is None
    assert (folder / "f").read_text() == "five\n"


async def test_a_file_that_a_session_made_is_known_to_it(tool: Tool, folder: Path) -> None:
    for content in ("one", "two"):
        assert (await tool("write_file", path="f", content=content)).error is None


async def test_a_change_of_the_same_size_with_the_time_set_back_is_noticed(
    tool: Tool, folder: Path
) -> None:
    """Case filesystem-20."""
    (folder / "f").write_bytes(b"aaaa\n")
    before = (folder / "f").stat()
    await tool("read_file", path="f")
    (folder / "f").write_bytes(b"bbbb\n")
    os.utime(folder / "f", ns=(before.st_atime_ns, before.st_mtime_ns))
    error = (await tool("write_file", path="f", content="cccc\n")).error
    assert error is not None
    assert "has changed" in error.message
    assert (folder / "f").read_bytes() == b"bbbb\n"


async def test_a_touched_file_with_the_same_bytes_is_no_change(tool: Tool, folder: Path) -> None:
    (folder / "f").write_bytes(b"aaaa\n")
    await tool("read_file", path="f")
    (folder / "f").write_bytes(b"aaaa\n")
    os.utime(folder / "f", ns=(0, 0))
    assert (await tool("write_file", path="f", content="b")).error is None


async def test_an_edit_does_not_make_a_foreign_change_known(tool: Tool, folder: Path) -> None:
    """The edit stands, but what somebody else wrote elsewhere in the file was not seen."""
    (folder / "f").write_text("a\nb\n")
    await tool("read_file", path="f")
    (folder / "f").write_text("a\nb\nmore from the user\n")
    assert (await tool("edit_file", path="f", old_str="a\nb", new_str="A\nb")).error is None
    error = (await tool("write_file", path="f", content="all new")).error
    assert error is not None
    assert (folder / "f").read_text() == "A\nb\nmore from the user\n"


@pytest.mark.usefixtures("way")
async def test_a_change_at_the_last_moment_is_kept(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the new content is being made durable, an editor saves."""
    (folder / "f").write_text("old")

    def save_meanwhile(descriptor: int) -> None:
        monkeypatch.undo()
        (folder / "f").write_text("by the user")

    monkeypatch.setattr(os, "fsync", save_meanwhile)
    error = (await unguarded("write_file", path="f", content="new")).error
    assert error is not None
    assert error.category == "concurrency_conflict"
    assert error.retryable
    assert (folder / "f").read_text() == "by the user"
    assert os.listdir(folder) == ["f"]


@pytest.mark.usefixtures("way")
async def test_a_file_that_comes_up_at_the_last_moment_is_kept(
    tool: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save_meanwhile(descriptor: int) -> None:
        monkeypatch.undo()
        (folder / "f").write_text("by the user")

    monkeypatch.setattr(os, "fsync", save_meanwhile)
    error = (await tool("write_file", path="f", content="new")).error
    assert error is not None
    assert error.category == "concurrency_conflict"
    assert (folder / "f").read_text() == "by the user"
    assert os.listdir(folder) == ["f"]


@pytest.mark.parametrize("operation", ["write_file", "edit_file"])
async def test_a_change_right_behind_the_reading_is_kept(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    """An editor that writes in place saves as soon as the old content has been read."""
    (folder / "f").write_text("old")
    real = writing.content_of

    def read_then_save(descriptor: int) -> bytes:
        content = real(descriptor)
        (folder / "f").write_text("by the user")
        return content

    monkeypatch.setattr(provider_module, "content_of", read_then_save)
    monkeypatch.setattr(writing, "content_of", read_then_save)
    arguments: dict[str, Any] = (
        {"content": "new"} if operation == "write_file" else {"old_str": "o", "new_str": "n"}
    )
    error = (await unguarded(operation, path="f", **arguments)).error
    assert error is not None
    assert error.category == "concurrency_conflict"
    assert (folder / "f").read_text() == "by the user"
    assert os.listdir(folder) == ["f"]
