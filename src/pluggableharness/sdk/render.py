"""What a preview or a recorded payload looks like, in nodes that any frontend can draw (P29, P30).

Plain values without a word of the wire; `tree_of` turns them into its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, assert_never

from msgspec import Struct, field

from pluggableharness.wire import render_pb2 as pb
from pluggableharness.wire.structs import to_struct


class Style(Enum):
    """How a text is set off."""

    NORMAL = "normal"
    BOLD = "bold"
    ITALIC = "italic"
    CODE = "code"
    DIM = "dim"
    ERROR = "error"
    WARNING = "warning"
    SUCCESS = "success"


class LineOp(Enum):
    """What became of a line."""

    CONTEXT = " "
    ADD = "+"
    REMOVE = "-"


class Text(Struct, frozen=True):
    """A run of text."""

    content: str
    style: Style | None = None


class CodeBlock(Struct, frozen=True):
    """Text to be set as it is; `language` is a name such as "python"."""

    content: str
    language: str | None = None


class DiffLine(Struct, frozen=True):
    """One line without its line end."""

    op: LineOp
    text: str


class Hunk(Struct, frozen=True):
    """Neighbouring lines of a diff; starts count from 1."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: Sequence[DiffLine]


class Diff(Struct, frozen=True):
    """A difference between two texts."""

    hunks: Sequence[Hunk]

    def unified(self, old_name: str, new_name: str) -> str:
        """Return the diff as `diff -u` prints it; empty when nothing differs."""
        if not self.hunks:
            return ""
        lines = [f"--- {old_name}", f"+++ {new_name}"]
        for hunk in self.hunks:
            old, new = (
                _range(hunk.old_start, hunk.old_lines),
                _range(hunk.new_start, hunk.new_lines),
            )
            lines.append(f"@@ -{old} +{new} @@")
            lines += [line.op.value + line.text for line in hunk.lines]
        return "\n".join(lines) + "\n"


class Table(Struct, frozen=True):
    """Rows below headers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


class Link(Struct, frozen=True):
    """A text that leads to an address."""

    text: str
    url: str


class Listing(Struct, frozen=True):
    """A list, numbered or not."""

    items: Sequence[Node]
    ordered: bool = False


class Group(Struct, frozen=True):
    """Nodes one after another."""

    children: Sequence[Node]


class Collapsible(Struct, frozen=True):
    """Nodes behind a line that opens them."""

    summary: str
    children: Sequence[Node]
    collapsed: bool = True


class SubSession(Struct, frozen=True):
    """A child session, to be opened or shown in place."""

    session_id: str
    summary: str


class Action(Struct, frozen=True):
    """Something that a person may start: a call of `provider`'s operation `tool_name`."""

    id: str
    label: str
    provider: str
    tool_name: str
    args: Mapping[str, Any] = field(default_factory=dict)


Node = Text | CodeBlock | Diff | Table | Link | Listing | Group | Collapsible | SubSession | Action


def would_fail(message: str) -> Text:
    """Make the node of a preview whose call would fail with that message."""
    return Text(f"This would fail: {message}", Style.WARNING)


def _range(start: int, lines: int) -> str:
    return str(start) if lines == 1 else f"{start},{lines}"


def tree_of(node: Node) -> pb.RenderTree:
    """Return the wire's tree of a node."""
    return pb.RenderTree(root=_message(node))


def _message(node: Node) -> pb.RenderNode:
    match node:
        case Text(content, style):
            return pb.RenderNode(text=pb.TextNode(content=content, style=style and _STYLES[style]))
        case CodeBlock(content, language):
            return pb.RenderNode(code_block=pb.CodeBlockNode(content=content, language=language))
        case Diff(hunks):
            return pb.RenderNode(diff=pb.DiffNode(hunks=map(_hunk_message, hunks)))
        case Table(headers, rows):
            table_rows = (pb.TableRow(cells=row) for row in rows)
            return pb.RenderNode(table=pb.TableNode(headers=headers, rows=table_rows))
        case Link(text, url):
            return pb.RenderNode(link=pb.LinkNode(text=text, url=url))
        case Listing(items, ordered):
            return pb.RenderNode(list=pb.ListNode(items=_messages(items), ordered=ordered))
        case Group(children):
            return pb.RenderNode(group=pb.GroupNode(children=_messages(children)))
        case Collapsible(summary, children, collapsed):
            return pb.RenderNode(
                collapsible=pb.CollapsibleNode(
                    summary=summary,
                    children=_messages(children),
                    collapsed_by_default=collapsed,
                )
            )
        case SubSession(session_id, summary):
            return pb.RenderNode(
                sub_session=pb.SubSessionNode(session_id=session_id, summary=summary)
            )
        case Action():
            return pb.RenderNode(action=_action(node))
        case _:
            assert_never(node)


_STYLES = {
    Style.NORMAL: pb.TEXT_STYLE_NORMAL,
    Style.BOLD: pb.TEXT_STYLE_BOLD,
    Style.ITALIC: pb.TEXT_STYLE_ITALIC,
    Style.CODE: pb.TEXT_STYLE_CODE,
    Style.DIM: pb.TEXT_STYLE_DIM,
    Style.ERROR: pb.TEXT_STYLE_ERROR,
    Style.WARNING: pb.TEXT_STYLE_WARNING,
    Style.SUCCESS: pb.TEXT_STYLE_SUCCESS,
}
_LINE_OPS = {
    LineOp.CONTEXT: pb.DIFF_LINE_OP_CONTEXT,
    LineOp.ADD: pb.DIFF_LINE_OP_ADD,
    LineOp.REMOVE: pb.DIFF_LINE_OP_REMOVE,
}


def _messages(nodes: Sequence[Node]) -> Iterator[pb.RenderNode]:
    return map(_message, nodes)


def _hunk_message(hunk: Hunk) -> pb.DiffHunk:
    return pb.DiffHunk(
        old_start=hunk.old_start,
        old_lines=hunk.old_lines,
        new_start=hunk.new_start,
        new_lines=hunk.new_lines,
        lines=(pb.DiffLine(op=_LINE_OPS[line.op], text=line.text) for line in hunk.lines),
    )


def _action(action: Action) -> pb.ActionNode:
    return pb.ActionNode(
        id=action.id,
        label=action.label,
        provider=action.provider,
        tool_name=action.tool_name,
        args=to_struct(action.args),
    )
