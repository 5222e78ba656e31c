"""The render tree there and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pluggableharness.kernel.codec.render import RenderError, render_from_wire, render_to_wire
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

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
COUNT = st.integers(0, 2**31 - 1)
LINES = st.lists(st.builds(DiffLine, st.sampled_from(DiffOp), TEXT), max_size=3).map(tuple)
HUNKS = st.lists(st.builds(DiffHunk, COUNT, COUNT, COUNT, COUNT, LINES), max_size=2).map(tuple)
LEAVES: st.SearchStrategy[RenderNode] = (
    st.builds(TextNode, TEXT, st.sampled_from(TextStyle))
    | st.builds(CodeBlockNode, TEXT, TEXT)
    | st.builds(DiffNode, HUNKS)
    | st.builds(TableNode, TEXTS, st.lists(TEXTS, max_size=3).map(tuple))
    | st.builds(LinkNode, TEXT, TEXT)
    | st.builds(SubSessionNode, TEXT, TEXT)
    | st.builds(ActionNode, TEXT, TEXT, TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=2))
)


def _branches(inner: st.SearchStrategy[RenderNode]) -> st.SearchStrategy[RenderNode]:
    nodes = st.lists(inner, max_size=3).map(tuple)
    return (
        st.builds(ListNode, nodes, st.booleans())
        | st.builds(GroupNode, nodes)
        | st.builds(CollapsibleNode, TEXT, nodes, st.booleans())
    )


@pytest.mark.req("P29", "P30")
@settings(deadline=None)
@given(st.recursive(LEAVES, _branches, max_leaves=8))
def test_a_tree_comes_back_as_it_went(root: RenderNode) -> None:
    sent = render_to_wire(root).SerializeToString()
    assert render_from_wire(render_pb2.RenderTree.FromString(sent)) == root


def test_a_node_of_no_kind_is_refused() -> None:
    raw = render_pb2.RenderTree()
    raw.root.group.children.add()
    with pytest.raises(RenderError, match="no kind"):
        render_from_wire(raw)


def test_a_diff_line_that_does_not_say_what_happened_to_it_is_refused() -> None:
    raw = render_pb2.RenderTree()
    raw.root.diff.hunks.add().lines.add().text = "rm -rf /"
    with pytest.raises(RenderError, match="diff line"):
        render_from_wire(raw)
