"""Previews and recorded payloads as nodes that any frontend draws."""

from typing import Any

import pytest

from pluggableharness.sdk import Context, ExecutionFailed, Misuse, NotFound, Provider
from pluggableharness.sdk.render import (
    Action,
    CodeBlock,
    Collapsible,
    Diff,
    DiffLine,
    Group,
    Hunk,
    LineOp,
    Link,
    Listing,
    Style,
    SubSession,
    Table,
    Text,
    tree_of,
)
from pluggableharness.sdk.testing import opened
from pluggableharness.wire import render_pb2 as pb
from pluggableharness.wire.structs import to_struct

DIFF = Diff(
    [
        Hunk(
            1,
            2,
            1,
            2,
            [
                DiffLine(LineOp.CONTEXT, "a"),
                DiffLine(LineOp.REMOVE, "b"),
                DiffLine(LineOp.ADD, "c"),
            ],
        ),
        Hunk(9, 1, 8, 0, [DiffLine(LineOp.REMOVE, "z")]),
    ]
)


@pytest.mark.req("P30")
def test_every_kind_of_node_has_its_message() -> None:
    text = pb.RenderNode(text=pb.TextNode(content="t"))
    tree = tree_of(
        Group(
            [
                Text("t"),
                Text("t", Style.ERROR),
                CodeBlock("x = 1", "python"),
                CodeBlock("x"),
                Table(["a", "b"], [["1", "2"]]),
                Link("here", "https://example.com"),
                Listing([Text("t")], ordered=True),
                Collapsible("more", [Text("t")]),
                SubSession("s", "did it"),
                Action("i", "Undo", "filesystem", "write_file", {"path": "a"}),
                DIFF,
            ]
        )
    )
    children = list(tree.root.group.children)
    assert children[:10] == [
        text,
        pb.RenderNode(text=pb.TextNode(content="t", style=pb.TEXT_STYLE_ERROR)),
        pb.RenderNode(code_block=pb.CodeBlockNode(language="python", content="x = 1")),
        pb.RenderNode(code_block=pb.CodeBlockNode(content="x")),
        pb.RenderNode(table=pb.TableNode(headers=["a", "b"], rows=[pb.TableRow(cells=["1", "2"])])),
        pb.RenderNode(link=pb.LinkNode(text="here", url="https://example.com")),
        pb.RenderNode(list=pb.ListNode(items=[text], ordered=True)),
        pb.RenderNode(
            collapsible=pb.CollapsibleNode(
                summary="more", children=[text], collapsed_by_default=True
            )
        ),
        pb.RenderNode(sub_session=pb.SubSessionNode(session_id="s", summary="did it")),
        pb.RenderNode(
            action=pb.ActionNode(
                id="i",
                label="Undo",
                tool_name="write_file",
                args=to_struct({"path": "a"}),
                provider="filesystem",
            )
        ),
    ]
    first, second = children[10].diff.hunks
    assert (first.old_start, first.old_lines, first.new_start, first.new_lines) == (1, 2, 1, 2)
    assert [(line.op, line.text) for line in first.lines] == [
        (pb.DIFF_LINE_OP_CONTEXT, "a"),
        (pb.DIFF_LINE_OP_REMOVE, "b"),
        (pb.DIFF_LINE_OP_ADD, "c"),
    ]
    assert second.new_lines == 0


@pytest.mark.parametrize("style", Style)
def test_every_style_has_its_value(style: Any) -> None:
    node = tree_of(Text("t", style)).root.text
    assert pb.TextStyle.Name(node.style) == f"TEXT_STYLE_{style.name}"


def test_a_diff_reads_as_diff_u_prints_it() -> None:
    assert DIFF.unified("a/x", "b/x") == (
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +8,0 @@\n-z\n"
    )
    assert Diff([]).unified("a", "b") == ""


@pytest.fixture
def provider() -> Any:
    provider = Provider("sample", version="1")

    @provider.resource(risk="low", streaming=True)
    async def act(ctx: Context[None], path: str, times: int = 1) -> dict[str, Any]:
        """Act."""
        return {}

    @act.preview
    async def _(ctx: Context[None], path: str, times: int = 1) -> Text | None:
        if path == "loud":
            await ctx.progress("no")
        if path == "gone":
            raise ExecutionFailed(path)
        return Text(f"{path} {times} in {ctx.working_directory}") if path else None

    @act.render
    def _(payload: dict[str, Any]) -> Text:
        return Text(payload["said"])

    @provider.data_source()
    async def plain(ctx: Context[None]) -> dict[str, Any]:
        """Look."""
        return {}

    return provider


@pytest.mark.req("P29", "P9")
async def test_a_preview_sees_the_checked_arguments_and_the_calls_directory(provider: Any) -> None:
    async with opened(provider, cwd="/there") as tool:
        assert await tool.preview("act", path="a", times=2.0) == Text("a 2 in /there")
        assert await tool.preview("act", path="") is None
        assert await tool.preview("plain") is None


@pytest.mark.req("P29")
async def test_a_preview_of_a_call_that_would_fail_is_what_it_would_fail_with(
    provider: Any,
) -> None:
    async with opened(provider, cwd="/there") as tool:
        expected = 'times: expected a whole number, got "2"'
        for arguments, why in (({"path": "a", "times": "2"}, expected), ({"path": "gone"}, "gone")):
            shown = await tool.preview("act", **arguments)
            assert shown == Text(f"This would fail: {why}", Style.WARNING)
        with pytest.raises(NotFound):
            await tool.preview("none")


@pytest.mark.req("P29")
async def test_a_preview_sends_no_events(provider: Any) -> None:
    async with opened(provider) as tool:
        with pytest.raises(Misuse, match="a preview sends no events"):
            await tool.preview("act", path="loud")


@pytest.mark.req("P30")
async def test_a_payload_is_drawn_by_its_operation(provider: Any) -> None:
    async with opened(provider) as tool:
        assert tool.render("act", {"said": "hello"}) == Text("hello")
        assert tool.render("plain", {}) is None
