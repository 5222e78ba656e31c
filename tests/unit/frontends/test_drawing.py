"""Previews and arguments drawn for approval: exact, complete or plainly not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.frontends.fakes import diff

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
from pluggableharness.kernel.frontends.diffs import changed_part, parse_unified
from pluggableharness.kernel.frontends.drawing import Drawing
from pluggableharness.kernel.frontends.lines import WordWrap
from pluggableharness.kernel.frontends.looks import ASCII, Looks

TEXT = st.text(max_size=30)
LEAVES = st.one_of(
    st.builds(TextNode, TEXT, st.sampled_from(TextStyle)),
    st.builds(CodeBlockNode, TEXT),
    st.builds(LinkNode, TEXT, TEXT),
    st.builds(SubSessionNode, TEXT, TEXT),
    st.builds(ActionNode, TEXT, TEXT, TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=2)),
    st.builds(
        lambda rows: TableNode(("a", "b"), tuple(rows)),
        st.lists(st.tuples(TEXT, TEXT), max_size=3),
    ),
    st.builds(
        lambda lines: DiffNode((DiffHunk(1, 1, 1, 1, tuple(lines)),)),
        st.lists(st.builds(DiffLine, st.sampled_from(DiffOp), TEXT), max_size=5),
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(ListNode, st.lists(inner, max_size=3).map(tuple), st.booleans()),
        st.builds(GroupNode, st.lists(inner, max_size=3).map(tuple)),
        st.builds(CollapsibleNode, TEXT, st.lists(inner, max_size=3).map(tuple), st.booleans()),
    ),
    max_leaves=8,
)


def drawn(node: RenderNode, width: int = 60, *, whole: bool = False) -> list[str]:
    drawing = Drawing(Looks(), width, whole)
    return [line.plain.rstrip() for line in drawing.node(node) + drawing.notes()]


@pytest.mark.req("K32")
def test_a_diff_has_line_numbers_and_signs() -> None:
    change = diff(" def f():", "-    return 1", "+    return 2", " ", start=9)
    assert drawn(change) == [
        " 9   def f():",
        "10 -     return 1",
        "10 +     return 2",
        "11",
    ]


def test_removed_lines_have_their_old_numbers_and_others_their_new_ones() -> None:
    lines = drawn(diff(" a", "+b", "+c", " d", "-e", "-f", " g", start=8))
    assert [line.split()[0] for line in lines] == ["8", "9", "10", "11", "10", "11", "12"]


def test_a_gap_between_two_hunks_is_seen() -> None:
    first, second = diff("-a", "+b").hunks[0], diff("-c", "+d", start=90).hunks[0]
    assert drawn(DiffNode((first, second)))[2].strip() == "…"


def test_the_changed_part_of_a_line_stands_out() -> None:
    lines = Drawing(Looks(), 60).node(diff("-total = round(a)", "+total = floor(a)"))
    changed = [
        line.plain[span.start : span.end]
        for line in lines
        for span in line.spans
        if span.style == "changed"
    ]
    assert changed == ["round", "floor"]


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_what_two_lines_share_is_really_shared(old: str, new: str) -> None:
    part = changed_part(old, new)
    if part:
        start, end = part
        assert old[:start] == new[:start]
        assert old[len(old) - end :] == new[len(new) - end :]
        assert start + end <= min(len(old), len(new))


@pytest.mark.req("K32")
def test_white_space_that_changes_is_seen() -> None:
    assert drawn(diff("-\tx", "+    x", "+x  ")) == ["1 - →   x", "1 +     x", "2 + x··"]


@pytest.mark.req("K32")
def test_a_line_with_characters_that_do_not_print_is_marked_and_explained() -> None:
    """Case policy-and-schema-13: in a diff, where no quotes tell escapes from text."""
    lines = drawn(diff(r"+print('\n')", "+print('\\n')\u202e\x1b[2K"))
    assert lines[0] == r"1 + print('\n')"
    assert lines[1] == r"2 +!print('\\n')\u202e\x1b[2K"
    assert lines[2].startswith("! marks a line")


@pytest.mark.req("K32")
def test_a_long_text_keeps_its_end_and_says_what_is_hidden() -> None:
    """Case policy-and-schema-14."""
    drawing = Drawing(Looks(), 60)
    lines = [
        line.plain for line in drawing.arguments({"command": "echo ok" + "\n" * 200 + "rm -rf x"})
    ]
    assert lines[0] == "command"
    assert lines[1].endswith("echo ok")
    assert lines[-1].endswith("201  rm -rf x")
    assert "[169 lines hidden, 169 characters]" in [line.strip() for line in lines]
    assert drawing.remarks.hidden


@pytest.mark.req("K32")
def test_a_long_line_keeps_its_end_and_says_what_is_hidden() -> None:
    """Case policy-and-schema-14: without any line end."""
    drawing = Drawing(Looks(), 60)
    command = "echo " + "x" * 5000 + "; rm -rf y"
    text = "".join(line.plain.strip() for line in drawing.arguments({"command": command}))
    assert "[3,415 characters hidden]" in text
    assert text.endswith("; rm -rf y")
    assert drawing.remarks.hidden


def test_a_long_line_within_a_diff_is_hidden_with_a_remark() -> None:
    drawing = Drawing(Looks(), 60)
    text = "".join(line.plain for line in drawing.node(diff("+" + "x" * 5000 + "; rm -rf y")))
    assert "characters hidden]" in text
    assert drawing.remarks.hidden


@settings(deadline=None)
@given(TREES)
def test_nothing_is_hidden_without_a_remark(tree: RenderNode) -> None:
    part, whole = Drawing(Looks(), 50), Drawing(Looks(), 50, whole=True)
    lines = [line.plain for line in part.node(tree)]
    if not part.remarks.hidden:
        assert lines == [line.plain for line in whole.node(tree)]
    assert not whole.remarks.hidden


@pytest.mark.req("K32")
@settings(deadline=None)
@given(TREES, st.integers(38, 120))
def test_every_tree_is_drawn_within_its_width_and_prints(tree: RenderNode, width: int) -> None:
    drawing = Drawing(Looks(), width)
    for line in drawing.node(tree):
        assert line.plain.isprintable()
        if _depth(tree) < 2:
            assert line.cell_len <= width


def _depth(tree: RenderNode) -> int:
    inner: tuple[RenderNode, ...] = ()
    if isinstance(tree, ListNode):
        inner = tree.items
    elif isinstance(tree, GroupNode | CollapsibleNode):
        inner = tree.children
    return 1 + max(map(_depth, inner), default=-1)


@settings(deadline=None)
@given(TREES)
def test_ascii_is_enough_for_every_tree(tree: RenderNode) -> None:
    for line in Drawing(Looks(encoding="ascii", glyphs=ASCII), 60).node(tree):
        assert line.plain.isascii()


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=300))
def test_folding_a_block_loses_no_character(content: str) -> None:
    first, *rest = [line.plain for line in Drawing(Looks(), 24, whole=True).block("x\n" + content)][
        1:
    ]
    if first[2] == " ":  # nothing in it had to be escaped
        assert first[3:] + "".join(line[3:] for line in rest) == content


def test_arguments_are_exact_and_aligned() -> None:
    lines = Drawing(Looks(), 40).arguments(
        {"path": "a\u200bb", "limit": 5.0, "deep": {"a": [1, None, True]}, "text": "one\ntwo\n"}
    )
    assert [line.plain for line in lines] == [
        'path   "a\\u200bb"',
        "limit  5",
        'deep   {"a": [1, null, true]}',
        "text",
        "  1  one",
        "  2  two",
        "  3  ",
    ]


def test_a_name_of_an_argument_is_as_suspect_as_its_value() -> None:
    lines = Drawing(Looks(), 40).arguments({"a\rb": "x"})
    assert [line.plain for line in lines] == ['"a\\rb"  x']


def test_a_preview_does_not_repeat_what_it_shows_itself() -> None:
    edit = {"path": "a.py", "old_str": "x\ny", "new_str": "x\nz\n"}
    lines = Drawing(Looks(), 60).with_preview(edit, diff(" x", "-y", "+z"))
    assert [line.plain for line in lines] == ["path  a.py", "1   x", "2 - y", "2 + z"]
    lines = Drawing(Looks(), 60).with_preview({"command": "make"}, CodeBlockNode("make"))
    assert [line.plain for line in lines] == ["make"]


def test_long_arguments_that_a_preview_lacks_are_named_and_can_be_asked_for() -> None:
    arguments = {"path": "a.py", "old_str": "z" * 100, "new_str": "x\ny"}
    drawing = Drawing(Looks(), 60)
    assert [line.plain for line in drawing.with_preview(arguments, TextNode("a change"))] == [
        "path  a.py",
        "[hidden: old_str, new_str]",
        "a change",
    ]
    assert drawing.remarks.hidden
    whole = Drawing(Looks(), 200, whole=True)
    drawn_whole = whole.with_preview(arguments, TextNode("a change"))
    assert "z" * 100 in "".join(line.plain for line in drawn_whole)


@pytest.mark.req("K32")
def test_no_text_can_pretend_to_be_a_line_in_escapes() -> None:
    assert drawn(TextNode("! grep x")) == ["! ! grep x"]
    assert drawn(CodeBlockNode("! grep x")) == ["! grep x"]
    assert drawn(CodeBlockNode("! grep\x1b")) == [r'"! grep\x1b"']


def test_what_is_not_shown_of_a_huge_diff_is_not_drawn_either() -> None:
    """Drawing all of it would hold up every other call for seconds."""
    huge = diff(*["+line"] * 50_000)
    assert "49,920 lines hidden" in "".join(drawn(huge))


def test_what_a_provider_collapses_is_hidden_and_counted() -> None:
    node = CollapsibleNode("details", (TextNode("a\nb"),), collapsed_by_default=True)
    assert drawn(node) == ["details", "[2 lines hidden]"]
    assert drawn(node, whole=True) == ["details", "  a", "  b"]


def test_a_link_shows_where_it_leads() -> None:
    assert drawn(LinkNode("docs", "https://evil.example")) == ["docs https://evil.example"]


def test_a_table_is_aligned_and_folds_what_is_too_wide() -> None:
    table = TableNode(("name", "value"), (("a", "x" * 30), ("bb", "y")))
    assert drawn(table, 20) == [
        "name  value",
        "a     " + "x" * 14,
        "      " + "x" * 14,
        "      xx",
        "bb    y",
    ]


def test_a_list_is_numbered_when_ordered() -> None:
    items = (TextNode("one"), TextNode("two"))
    assert drawn(ListNode(items, ordered=True)) == ["1. one", "2. two"]
    assert drawn(ListNode(items)) == ["• one", "• two"]


def test_a_unified_diff_is_parsed_and_anything_else_is_not() -> None:
    text = "--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ def f\n a\n-b\n+c\n\\ No newline at end of file\n"
    parsed = parse_unified(text)
    assert parsed is not None
    assert drawn(parsed)[:3] == ["3   a", "4 - b", "4 + c"]
    assert parse_unified("no diff") is None
    assert parse_unified("@@ -1 +1 @@\nnonsense") is None


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), max_size=8), st.integers(8, 30))
def test_wrapped_prose_keeps_its_words_and_its_width(pieces: list[str], width: int) -> None:
    pieces = [re.sub(r"[^\w\n]", " ", piece) for piece in pieces if piece.isascii()]
    wrap = WordWrap()
    out = "".join(wrap.feed(piece, width).plain for piece in pieces) + wrap.finish(width).plain
    assert re.sub(r"\s", "", out) == re.sub(r"\s", "", "".join(pieces))
    assert all(len(line.rstrip()) <= width for line in out.split("\n"))


def test_prose_breaks_between_words() -> None:
    wrap = WordWrap()
    said = ["one two th", "ree four", " five\n  six"]
    out = "".join(wrap.feed(piece, 12).plain for piece in said)
    assert out + wrap.finish(12).plain == "one two\nthree four\nfive\n  six"
