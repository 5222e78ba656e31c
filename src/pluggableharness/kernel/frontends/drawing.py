"""Draws render trees and arguments as styled lines (P29, P30, K32). Uses rich.

What is drawn may be up for approval, so everything is exact: see `lines.exact`. Long content
loses its middle, never its end, and says how much is hidden; with `whole` nothing is.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from rich.text import Text

from pluggableharness.kernel.domain.render import (
    ActionNode,
    CodeBlockNode,
    CollapsibleNode,
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
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.diffs import Row, changed_part, pairs, parse_unified, rows
from pluggableharness.kernel.frontends.json_values import compact, pretty
from pluggableharness.kernel.frontends.lines import columns, exact, fold, hang, quoted
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.text import Line, Parts, clipped, shown
from pluggableharness.kernel.frontends.words import counted, value_line

_BLOCK_HEAD, _BLOCK_TAIL = 24, 8
_DIFF_HEAD, _DIFF_TAIL = 60, 20
_SHORT = 60
_NAME = 20

_STYLES = {
    TextStyle.NORMAL: "",
    TextStyle.BOLD: "bold",
    TextStyle.ITALIC: "italic",
    TextStyle.CODE: "code",
    TextStyle.DIM: "faint",
    TextStyle.ERROR: "error",
    TextStyle.WARNING: "warning",
    TextStyle.SUCCESS: "success",
}
_SIGNS = {DiffOp.CONTEXT: " ", DiffOp.ADD: "+", DiffOp.REMOVE: "-"}
_DIFF_STYLES = {DiffOp.CONTEXT: "", DiffOp.ADD: "added", DiffOp.REMOVE: "removed"}


@dataclass(slots=True)
class Remarks:
    """What a reader has to be told about a drawing: lines left out, lines with escapes."""

    hidden: bool = False
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """Draws within `width` cells and keeps `remarks` about what was drawn so far.

    `with_numbers` says that the lines of a block bear some, which content cannot imitate: for what
    an approval hangs on.
    """

    looks: Looks
    width: int
    whole: bool = False
    with_numbers: bool = True
    remarks: Remarks = field(default_factory=Remarks)

    def node(self, node: RenderNode) -> list[Text]:
        """A render tree."""
        match node:
            case TextNode():
                return self.prose(node.content, _STYLES[node.style])
            case CodeBlockNode():
                return self._code(node)
            case DiffNode():
                return self._diff(node)
            case TableNode():
                return self._table(node)
            case LinkNode():
                return self._pieces((node.text, ""), (node.url, "link"))
            case ListNode():
                return self._list(node)
            case GroupNode():
                return [line for child in node.children for line in self.node(child)]
            case CollapsibleNode():
                return self._collapsible(node)
            case SubSessionNode():
                return self._pieces(("session", "faint"), (node.session_id, ""), (node.summary, ""))
            case ActionNode():
                name = f"{node.provider}.{node.tool_name}"
                return [
                    *self._pieces((node.label, "bold"), (name, "")),
                    *self._under(node.arguments),
                ]
            case _:
                assert_never(node)

    def arguments(self, arguments: JsonObject) -> list[Text]:
        """Every argument, exact: short ones beside their name, long ones below it."""
        names = {name: self._quoted(name, "faint") for name in arguments}
        margin = min(max((text.cell_len for text in names.values()), default=0), _NAME) + 2
        return [
            line
            for name, value in arguments.items()
            for line in self._argument(names[name], value, margin)
        ]

    def with_preview(self, arguments: JsonObject, preview: RenderNode) -> list[Text]:
        """A preview, under the arguments that it does not show itself and what it warns of.

        Long ones give way to their name, and to the remark that something is hidden.
        """
        warnings, rest = _parted(preview)
        there = frozenset(_lines_in(preview))
        left = {name: v for name, v in arguments.items() if self.whole or not _is_in(v, there)}
        long = [name for name, value in left.items() if not (self.whole or _is_short(value))]
        lines = self.arguments({name: left[name] for name in left if name not in long})
        if long:
            names = ", ".join(shown(name, self.looks.encoding) for name in long)
            lines += self._gap(f"hidden: {names}")
        return [*self.node(warnings), *lines, *self.node(rest)]

    def warnings(self, preview: RenderNode) -> list[Text]:
        """What a preview warns of: that its call would fail, say."""
        return self.node(_parted(preview)[0])

    def block(self, content: str) -> list[Text]:
        """Text as it is, behind line numbers, which nothing within it can imitate.

        A line end at its end shows as an empty last line. A single line needs no number.
        """
        if not self.with_numbers:
            return self.prose(content)
        lines = content.split("\n")
        if len(lines) == 1:
            return fold(self._quoted(content), self.width)
        size = len(str(len(lines)))
        head, hidden, tail = self._clipped(list(enumerate(lines, 1)), _BLOCK_HEAD, _BLOCK_TAIL)
        drawn = [piece for number, line in head for piece in self._row(f"{number:>{size}}", line)]
        if hidden:
            drawn += self._gap(_left_out([line for _, line in hidden]))
        drawn += [piece for number, line in tail for piece in self._row(f"{number:>{size}}", line)]
        return drawn

    def _code(self, node: CodeBlockNode) -> list[Text]:
        """A block; as a diff only where no approval hangs on what stands before its first hunk."""
        named = node.language == "diff" and not self.with_numbers
        diff = parse_unified(node.content) if named else None
        return self.block(node.content) if diff is None else self._diff(diff)

    def prose(self, content: str, style: str = "") -> list[Text]:
        """Running text, of which an approval may hang: exact as well."""
        lines = content.removesuffix("\n").split("\n")
        head, hidden, tail = self._clipped(lines, _BLOCK_HEAD, _BLOCK_TAIL)
        drawn = [piece for line in head for piece in self._prose_line(line, style)]
        if hidden:
            drawn += self._gap(_left_out(hidden))
        return drawn + [piece for line in tail for piece in self._prose_line(line, style)]

    def numbered(self, number: int, text: str) -> list[Text]:
        """A value behind a number by which it can be chosen."""
        margin = Text(f"{number}. ", "bold")
        return hang(margin, Text(" " * margin.cell_len), self._quoted(text), self.width)

    def notes(self) -> list[Text]:
        """What a reader has to know about the signs that were used so far."""
        note = "! marks a line with characters that do not print, written as escapes"
        return fold(Text(note, "escape"), self.width, words=True) if self.remarks.marked else []

    def _quoted(self, text: str, style: str = "") -> Text:
        drawn, hidden = quoted(text, self.looks, whole=self.whole)
        self.remarks.hidden |= hidden
        drawn.style = style
        return drawn

    def _exact(self, line: str, style: str = "") -> tuple[Text, bool]:
        drawn = exact(line, self.looks, whole=self.whole, ends=bool(style))
        self.remarks.hidden |= drawn.hidden
        self.remarks.marked |= drawn.marked
        drawn.text.style = style
        return drawn.text, drawn.marked

    def _clipped(self, lines: Sequence[Line], head: int, tail: int) -> Parts[Line]:
        return (lines, (), ()) if self.whole else clipped(lines, head, tail)

    def _gap(self, words: str) -> list[Text]:
        self.remarks.hidden = True
        return fold(Text(f"[{words}]", "hidden"), self.width)

    def _pieces(self, *pieces: tuple[str, str]) -> list[Text]:
        line = Text(" ").join(self._quoted(text, style) for text, style in pieces if text)
        return fold(line, self.width)

    def _prose_line(self, line: str, style: str) -> list[Text]:
        text, marked = self._exact(line)
        text.style = style
        # No margin here: a line that begins as if it were marked is marked, too.
        mark = Text("! ", "escape") if marked or line.startswith("!") else Text()
        return hang(mark, Text(), text, self.width, words=True)

    def _row(self, number: str, line: str) -> list[Text]:
        text, marked = self._exact(line)
        mark = ("!" if marked else " ", "escape")
        first = Text.assemble((number, "faint"), " ", mark)
        return hang(first, Text(" " * first.cell_len), text, self.width)

    def _diff(self, node: DiffNode) -> list[Text]:
        found = rows(node)
        size = len(str(max((row.number for row in found if row), default=0)))
        head, hidden, tail = self._clipped(found, _DIFF_HEAD, _DIFF_TAIL)
        lines = self._diff_rows(head, size)
        if hidden:
            lines += self._gap(_left_out([row.text for row in hidden if row]))
        return lines + self._diff_rows(tail, size)

    def _diff_rows(self, found: Sequence[Row | None], size: int) -> list[Text]:
        drawn = [
            self._exact(row.text, _DIFF_STYLES[row.op]) if row else (Text(), False) for row in found
        ]
        for old, new in pairs(found):
            _emphasise(drawn[old][0], drawn[new][0])
        return [
            piece
            for row, text in zip(found, drawn, strict=True)
            for piece in self._diff_row(row, text, size)
        ]

    def _diff_row(self, row: Row | None, drawn: tuple[Text, bool], size: int) -> list[Text]:
        if row is None:
            return [Text(self.looks.glyphs.ellipsis.rjust(size), "faint")]
        text, marked = drawn
        sign = (_SIGNS[row.op], _DIFF_STYLES[row.op])
        mark = ("!" if marked else " ", "escape")
        first = Text.assemble((f"{row.number:>{size}}", "faint"), " ", sign, mark)
        return hang(first, Text.assemble(" " * (size + 1), sign, " "), text, self.width)

    def _argument(self, name: Text, value: Json, margin: int) -> list[Text]:
        if isinstance(value, str):
            block, text = value if "\n" in value else "", self._quoted(value)
        else:
            line = compact(value, self.looks.encoding)
            fits = len(line) <= self.width - margin
            block, text = "" if fits else pretty(value, self.looks.encoding), Text(line)
        if block:
            inner = self._indented(lambda inner: inner.block(block))
            return [*fold(name, self.width), *inner]
        if name.cell_len > _NAME:
            return [*fold(name, self.width), *hang(Text("  "), Text("  "), text, self.width)]
        first = Text.assemble(name, " " * max(margin - name.cell_len, 1))
        return hang(first, Text(" " * margin), text, self.width)

    def _under(self, arguments: JsonObject) -> list[Text]:
        return self._indented(lambda inner: inner.arguments(arguments))

    def _indented(self, draw: Callable[["Drawing"], list[Text]]) -> list[Text]:
        return [Text.assemble("  ", line) for line in draw(replace(self, width=self.width - 2))]

    def _table(self, node: TableNode) -> list[Text]:
        names = [self._quoted(header, "bold") for header in node.headers]
        head, hidden, tail = self._clipped(node.rows, _BLOCK_HEAD, _BLOCK_TAIL)
        lines = columns([names, *map(self._cells, head)], self.width)
        if hidden:
            lines += self._gap(counted(len(hidden), "row") + " hidden")
        return lines + columns([*map(self._cells, tail)], self.width)

    def _cells(self, row: Sequence[str]) -> list[Text]:
        return [self._quoted(cell) if cell else Text() for cell in row]

    def _list(self, node: ListNode) -> list[Text]:
        size = len(str(len(node.items))) + 1
        lines: list[Text] = []
        for number, item in enumerate(node.items, 1):
            sign = f"{number}.".rjust(size) if node.ordered else self.looks.glyphs.bullet
            inner = replace(self, width=self.width - len(sign) - 1).node(item)
            margin = [Text(sign + " ", "faint"), *(Text(" " * (len(sign) + 1)) for _ in inner)]
            lines += [
                Text.assemble(first, line) for first, line in zip(margin, inner, strict=False)
            ]
        return lines

    def _collapsible(self, node: CollapsibleNode) -> list[Text]:
        lines = self.prose(node.summary, "bold")
        inner = self._indented(lambda inner: inner.node(GroupNode(node.children)))
        if node.collapsed_by_default and not self.whole:
            return lines + self._gap(f"{counted(len(inner), 'line')} hidden")
        return lines + inner


def _left_out(lines: Sequence[str]) -> str:
    characters = sum(len(line) + 1 for line in lines)
    return f"{counted(len(lines), 'line')} hidden, {counted(characters, 'character')}"


def _parted(node: RenderNode) -> tuple[GroupNode, GroupNode]:
    """What a preview warns of, and the rest of it; no nodes where there is none."""
    if isinstance(node, TextNode) and node.style in (TextStyle.WARNING, TextStyle.ERROR):
        return GroupNode((node,)), GroupNode(())
    if not isinstance(node, GroupNode):
        return GroupNode(()), GroupNode((node,))
    parts = [_parted(child) for child in node.children]
    warnings = tuple(one for warned, _ in parts for one in warned.children)
    return GroupNode(warnings), GroupNode(tuple(one for _, rest in parts for one in rest.children))


def _lines_in(node: RenderNode) -> Iterator[str]:
    """The lines of content that stand in a preview as they are."""
    match node:
        case CodeBlockNode():
            yield from node.content.split("\n")
        case DiffNode():
            yield from (line.text for hunk in node.hunks for line in hunk.lines)
        case GroupNode():
            for child in node.children:
                yield from _lines_in(child)
        case _:
            pass


def _is_in(value: Json, lines: Collection[str]) -> bool:
    """Whether every line of a text is among the lines."""
    if not isinstance(value, str) or not value:
        return False
    return all(line in lines for line in value.removesuffix("\n").split("\n"))


def _is_short(value: Json) -> bool:
    """Whether a value fits beside its name: a text of one line, or a small JSON value."""
    return len(value_line(value)) <= _SHORT and not (isinstance(value, str) and "\n" in value)


def _emphasise(old: Text, new: Text) -> None:
    """Marks the part in which two lines that replace each other differ."""
    part = changed_part(old.plain, new.plain)
    if part is None:
        return
    start, end = part
    for text in (old, new):
        text.stylize("changed", start, len(text.plain) - end)
