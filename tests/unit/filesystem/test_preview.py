"""What the person at the gate sees: the diff that would result, against the file as it is."""

import os
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.sdk.render import CodeBlock, Diff, Group, LineOp, Node, Text
from pluggableharness.sdk.testing import Tool

pytestmark = pytest.mark.req("C6", "P29")


def lines(node: Node | None) -> list[str]:
    assert isinstance(node, Diff)
    return [line.op.value + line.text for hunk in node.hunks for line in hunk.lines]


async def test_an_edit_is_shown_and_not_made(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("a\nb\nc\n")
    before = (folder / "f").stat()
    node = await tool.preview("edit_file", path="f", old_str="b", new_str="B")
    assert lines(node) == [" a", "-b", "+B", " c"]
    assert (folder / "f").stat() == before
    assert os.listdir(folder) == ["f"]


async def test_a_preview_is_what_the_call_then_does(tool: Tool, folder: Path) -> None:
    (folder / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc\r\n" * 3)
    arguments: dict[str, Any] = {
        "path": "f",
        "old_str": "b\nc",
        "new_str": "x\ny\nz",
        "replace_all": True,
    }
    node = await tool.preview("edit_file", **arguments)
    payload = (await tool("edit_file", **arguments)).payload
    assert isinstance(node, Diff)
    assert payload["diff"] == node.unified(payload["path"], payload["path"])


async def test_a_preview_follows_the_file(tool: Tool, folder: Path) -> None:
    for content in ("one\n", "two\n"):
        (folder / "f").write_text(content)
        await tool("read_file", path="f")
        node = await tool.preview("write_file", path="f", content="three\n")
        assert lines(node) == [f"-{content.strip()}", "+three"]


async def test_a_new_file_is_shown_whole_and_no_folder_is_made(tool: Tool, folder: Path) -> None:
    for path in ("f", "x/y/f"):
        assert lines(await tool.preview("write_file", path=path, content="a\nb")) == [
            "+a",
            "+b",
            " \\ No newline at end of file",
        ]
    assert os.listdir(folder) == []


async def test_no_difference_is_said(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("same")
    await tool("read_file", path="f")
    node = await tool.preview("write_file", path="f", content="same")
    assert isinstance(node, Text)
    assert "Nothing would change" in node.content


async def test_an_empty_file_that_would_be_made_is_said(tool: Tool) -> None:
    for path in ("new", "no/folder/new"):
        node = await tool.preview("write_file", path=path, content="")
        assert node == Text("An empty file is made.")


async def test_a_preview_is_no_read(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("old\n")
    node = await tool.preview("write_file", path="f", content="new\n")
    assert isinstance(node, Group)
    warning, diff = node.children
    assert isinstance(warning, Text)
    assert "was not read in this session" in warning.content
    assert lines(diff) == ["-old", "+new"]
    assert (await tool("write_file", path="f", content="new\n")).error is not None


@pytest.mark.parametrize(
    ("operation", "arguments", "said"),
    [
        ("write_file", {"path": "/etc/passwd", "content": "x"}, "outside the allowed folders"),
        ("write_file", {"path": "d", "content": "x"}, "is a folder"),
        ("write_file", {"path": "d/", "content": "x"}, "names a folder"),
        ("write_file", {"path": "no/f", "content": "", "create_parents": False}, "there is no no"),
        ("edit_file", {"path": "none", "old_str": "a", "new_str": "b"}, "does not exist"),
        ("edit_file", {"path": "f", "old_str": "zz", "new_str": "b"}, "old_str is not in"),
        ("edit_file", {"path": "f", "old_str": "", "new_str": "b"}, "must not be empty"),
        ("edit_file", {"path": "../f", "old_str": "a", "new_str": "b"}, "add to `allowed_roots`"),
    ],
)
async def test_what_would_fail_says_why(
    tool: Tool, folder: Path, operation: str, arguments: dict[str, Any], said: str
) -> None:
    (folder / "d").mkdir()
    (folder / "f").write_text("text")
    node = await tool.preview(operation, **arguments)
    assert isinstance(node, Text)
    assert node.content.startswith("This would fail: ")
    assert said in node.content


async def test_a_large_file_is_previewed_by_its_changed_lines(tool: Tool, folder: Path) -> None:
    (folder / "f").write_text("".join(f"line {n}\n" for n in range(300_000)))
    node = await tool.preview("edit_file", path="f", old_str="line 200000\n", new_str="new\n")
    assert isinstance(node, Diff)
    (hunk,) = node.hunks
    assert (hunk.old_start, hunk.old_lines, len(hunk.lines)) == (199_998, 7, 8)
    assert [line.text for line in hunk.lines if line.op is LineOp.ADD] == ["new"]


@pytest.mark.req("P30")
async def test_recorded_results_are_shown_as_text_and_diffs(tool: Tool, folder: Path) -> None:
    written = (await tool("write_file", path="f", content="a\n")).payload
    edited = (await tool("edit_file", path="f", old_str="a", new_str="b")).payload
    read = (await tool("read_file", path="f")).payload
    assert tool.render("write_file", written) == CodeBlock(written["diff"], "diff")
    assert tool.render("edit_file", edited) == CodeBlock(edited["diff"], "diff")
    assert tool.render("read_file", read) == Text("1|b")
