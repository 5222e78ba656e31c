"""How recorded results are drawn (P30)."""

from pathlib import Path
from typing import Any

import pytest
from unit.search.trees import plant, put

from pluggableharness.sdk.render import CodeBlock, Group, Node, Style, Text
from pluggableharness.sdk.testing import Tool

pytestmark = pytest.mark.req("P30")


async def drawn(tool: Tool, operation: str, **arguments: Any) -> list[Node]:
    payload = (await tool(operation, **arguments)).payload
    node = tool.render(operation, payload)
    assert isinstance(node, Group)
    return list(node.children)


async def test_paths_are_listed_and_counted(tool: Tool, folder: Path) -> None:
    plant(folder, a="", b="", c="")
    put(folder, ".d", "")
    assert await drawn(tool, "glob", pattern="*", limit=2) == [
        CodeBlock("a\nb"),
        Text("3 files, the first 2 shown; left out: 1 hidden", Style.DIM),
    ]
    assert await drawn(tool, "glob", pattern="x") == [Text("0 files", Style.DIM)]
    assert await drawn(tool, "glob", pattern=".git/*") == [
        Text("0 files", Style.DIM),
        Text("what is in .git is never listed", Style.WARNING),
    ]


async def test_matches_stand_beneath_their_files_with_their_lines(tool: Tool, folder: Path) -> None:
    plant(folder, a="1\nx 2\n3\n", b="x\n")
    assert await drawn(tool, "grep", pattern="x", before=1, after=1) == [
        Text("a", Style.BOLD),
        CodeBlock("1-1\n2:x 2\n3-3"),
        Text("b", Style.BOLD),
        CodeBlock("1:x"),
        Text("2 matches in 2 files", Style.DIM),
    ]
    assert await drawn(tool, "grep", pattern="x.2\\n3", multiline=True) == [
        Text("a", Style.BOLD),
        CodeBlock("2:x 2\n3:3"),
        Text("1 match in 1 file", Style.DIM),
    ]


async def test_files_and_counts_are_a_line_each(tool: Tool, folder: Path) -> None:
    plant(folder, a="x\nx\n", b="x\n" * 10_000)
    assert await drawn(tool, "grep", pattern="x", mode="files") == [
        Text("a", Style.CODE),
        Text("b", Style.CODE),
        Text("2 matches in 2 files", Style.DIM),
    ]
    assert await drawn(tool, "grep", pattern="x", mode="count") == [
        Text("a: 2", Style.CODE),
        Text("b: 9998", Style.CODE),
        Text("at least 10,000 matches in 2 files, the first 2 shown", Style.DIM),
    ]
