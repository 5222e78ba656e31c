"""The render tree to and from the wire."""

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from pluggableharness.kernel.codec.enums import members, numbers
from pluggableharness.kernel.domain.render import (
    ActionNode,
    CodeBlockNode,
    CollapsibleNode,
    DiffHunk,
    DiffLine,
    DiffNode,
    DiffOp,
    GroupNode,
    LinkNode,
    ListNode,
    RenderNode,
    SubSessionNode,
    TableNode,
    TextNode,
    TextStyle,
)
from pluggableharness.wire import render_pb2
from pluggableharness.wire.structs import from_struct, to_struct

_STYLES = members(TextStyle, render_pb2.TextStyle, "TEXT_STYLE")
_STYLE_NUMBERS = numbers(TextStyle, render_pb2.TextStyle, "TEXT_STYLE")
_DIFF_OPS = members(DiffOp, render_pb2.DiffLineOp, "DIFF_LINE_OP")
_DIFF_OP_NUMBERS = numbers(DiffOp, render_pb2.DiffLineOp, "DIFF_LINE_OP")


class RenderError(ValueError):
    """A tree that says nothing: a node of no kind, or a diff line that is neither old nor new."""


def render_from_wire(raw: render_pb2.RenderTree) -> RenderNode:
    """Return the root of a tree that a provider sent.

    Raises:
        RenderError: a node of no kind, or an unspecified diff operation.
        ValueError: an action's arguments hold what JSON does not know.
    """
    return _node(raw.root)


def render_to_wire(root: RenderNode) -> render_pb2.RenderTree:
    """Return the tree below a root.

    Raises:
        ValueError: an action's arguments cannot travel.
    """
    return render_pb2.RenderTree(root=_message(root))


def _node(raw: render_pb2.RenderNode) -> RenderNode:
    kind = raw.WhichOneof("node")
    if kind is None:
        raise RenderError("a render node of no kind")
    return _READERS[kind](getattr(raw, kind))


def _nodes(raws: Iterable[render_pb2.RenderNode]) -> tuple[RenderNode, ...]:
    return tuple(_node(raw) for raw in raws)


def _text(raw: render_pb2.TextNode) -> TextNode:
    # A style is decoration: one that this side does not know must not cost the text.
    return TextNode(raw.content, _STYLES.get(raw.style, TextStyle.NORMAL))


def _diff(raw: render_pb2.DiffNode) -> DiffNode:
    return DiffNode(tuple(_hunk(hunk) for hunk in raw.hunks))


def _hunk(raw: render_pb2.DiffHunk) -> DiffHunk:
    lines = tuple(_line(line) for line in raw.lines)
    return DiffHunk(raw.old_start, raw.old_lines, raw.new_start, raw.new_lines, lines)


def _line(raw: render_pb2.DiffLine) -> DiffLine:
    # Shown as context, an added or removed line would deceive the person at the gate.
    if raw.op not in _DIFF_OPS:
        raise RenderError(f"a diff line of operation {raw.op}")
    return DiffLine(_DIFF_OPS[raw.op], raw.text)


def _table(raw: render_pb2.TableNode) -> TableNode:
    return TableNode(tuple(raw.headers), tuple(tuple(row.cells) for row in raw.rows))


def _action(raw: render_pb2.ActionNode) -> ActionNode:
    return ActionNode(raw.id, raw.label, raw.provider, raw.tool_name, from_struct(raw.args))


_READERS: dict[str, Callable[[Any], RenderNode]] = {
    "text": _text,
    "code_block": lambda raw: CodeBlockNode(raw.content, raw.language),
    "diff": _diff,
    "table": _table,
    "link": lambda raw: LinkNode(raw.text, raw.url),
    "list": lambda raw: ListNode(_nodes(raw.items), raw.ordered),
    "group": lambda raw: GroupNode(_nodes(raw.children)),
    "collapsible": lambda raw: CollapsibleNode(
        raw.summary, _nodes(raw.children), raw.collapsed_by_default
    ),
    "sub_session": lambda raw: SubSessionNode(raw.session_id, raw.summary),
    "action": _action,
}


def _message(node: RenderNode) -> render_pb2.RenderNode:
    raw = render_pb2.RenderNode()
    match node:
        case TextNode(content, style):
            raw.text.content = content
            raw.text.style = _STYLE_NUMBERS[style]
        case CodeBlockNode(content, language):
            raw.code_block.content = content
            if language:
                raw.code_block.language = language
        case DiffNode(hunks):
            raw.diff.SetInParent()
            raw.diff.hunks.extend(_hunk_message(hunk) for hunk in hunks)
        case TableNode(headers, rows):
            raw.table.SetInParent()
            raw.table.headers.extend(headers)
            raw.table.rows.extend(render_pb2.TableRow(cells=row) for row in rows)
        case LinkNode(text, url):
            raw.link.CopyFrom(render_pb2.LinkNode(text=text, url=url))
        case ListNode(items, ordered):
            raw.list.ordered = ordered
            raw.list.items.extend(map(_message, items))
        case GroupNode(children):
            raw.group.SetInParent()
            raw.group.children.extend(map(_message, children))
        case CollapsibleNode(summary, children, collapsed_by_default):
            raw.collapsible.summary = summary
            raw.collapsible.collapsed_by_default = collapsed_by_default
            raw.collapsible.children.extend(map(_message, children))
        case SubSessionNode(session_id, summary):
            raw.sub_session.CopyFrom(
                render_pb2.SubSessionNode(session_id=session_id, summary=summary)
            )
        case ActionNode():
            raw.action.CopyFrom(_action_message(node))
        case _:
            assert_never(node)
    return raw


def _action_message(node: ActionNode) -> render_pb2.ActionNode:
    return render_pb2.ActionNode(
        id=node.id,
        label=node.label,
        tool_name=node.tool_name,
        args=to_struct(node.arguments),
        provider=node.provider,
    )


def _hunk_message(hunk: DiffHunk) -> render_pb2.DiffHunk:
    return render_pb2.DiffHunk(
        old_start=hunk.old_start,
        old_lines=hunk.old_lines,
        new_start=hunk.new_start,
        new_lines=hunk.new_lines,
        lines=[
            render_pb2.DiffLine(op=_DIFF_OP_NUMBERS[line.op], text=line.text) for line in hunk.lines
        ],
    )
