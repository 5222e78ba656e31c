"""Styled lines: safe text with its invisible parts marked, folded to a width. Uses rich."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import get_character_cell_size
from rich.text import Text

from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.text import clipped_line, escaped, shown

_TAB = 4
_GAP, _NARROWEST_CELL = 2, 4
_LONG_HEAD, _LONG_TAIL = 1200, 400
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt\\])")
_WORD = re.compile(r"\n| +|[^ \n]+")


@dataclass(frozen=True, slots=True)
class Exact:
    """A drawn line, whether escapes stand in it, and whether its middle is left out."""

    text: Text
    marked: bool
    hidden: bool


def exact(line: str, looks: Looks, *, whole: bool = False, ends: bool = False) -> Exact:
    """One line of content, exact.

    A tab is drawn as an arrow; with `ends`, spaces at the end as dots. A line with any other
    character that does not print is written in escapes throughout, its backslashes doubled,
    and its caller marks it. Unless `whole`, the middle of a very long line gives way to the
    number of characters left out.
    """
    head, hidden, tail = (line, 0, "") if whole else clipped_line(line, _LONG_HEAD, _LONG_TAIL)
    marked = escaped(line.replace("\t", " "), looks.encoding) is not None
    draw = _draw_escaped if marked else _draw_tabs
    text = draw(head, looks)
    if hidden:
        text.append(f" [{hidden:,} characters hidden] ", "hidden")
        text.append_text(draw(tail, looks))
    if ends and not marked:
        _dot_ends(text, line, looks)
    return Exact(text, marked, bool(hidden))


def quoted(text: str, looks: Looks, *, whole: bool = False) -> tuple[Text, bool]:
    """A value on one line as `text.shown` writes it, and whether its middle is left out."""
    written = shown(text, looks.encoding)
    head, hidden, tail = (
        (written, 0, "") if whole else clipped_line(written, _LONG_HEAD, _LONG_TAIL)
    )
    drawn = Text(head)
    if hidden:
        drawn.append(f" [{hidden:,} characters hidden] ", "hidden")
        drawn.append(tail)
    if written.startswith('"'):
        drawn.highlight_regex(_ESCAPE, "escape")
    return drawn, bool(hidden)


def fold(text: Text, width: int, *, words: bool = False) -> list[Text]:
    """The line cut into pieces of at most `width` cells, without losing a character.

    With `words` it is cut after a space where one is near enough.
    """
    if text.cell_len <= width:
        return [text]
    offsets: list[int] = []
    used = space = at_space = 0
    for position, character in enumerate(text.plain):
        size = get_character_cell_size(character)
        if used + size > width:
            near = words and at_space > width // 2
            offsets.append(space if near else position)
            used = used - at_space if near else 0
            at_space = 0
        used += size
        if character == " ":
            space, at_space = position + 1, used
    return list(text.divide(offsets))


def hang(first: Text, rest: Text, content: Text, width: int, *, words: bool = False) -> list[Text]:
    """The content folded behind a margin: `first` on its first line, `rest` on the others.

    Assembled, because adding two texts would give the first one's style to both.
    """
    pieces = fold(content, max(width - first.cell_len, 8), words=words)
    return [Text.assemble(rest if number else first, piece) for number, piece in enumerate(pieces)]


def boxed(title: Text, body: Sequence[Text], looks: Looks) -> list[Text]:
    """A title and lines behind a bar. No content can draw a line without that bar."""
    top, bar = (looks.glyphs.top + " ", "faint"), (looks.glyphs.bar + " ", "faint")
    return [Text.assemble(top, title), *(Text.assemble(bar, line) for line in body)]


def joined(lines: Iterable[Text]) -> Text:
    """The lines as one text."""
    return Text("\n").join(lines)


def columns(rows: Sequence[Sequence[Text]], width: int, *, words: bool = False) -> list[Text]:
    """Rows of cells in aligned columns; what is too wide is folded within its cell.

    Where not even columns of one character fit, nothing is aligned.
    """
    count = max((len(row) for row in rows), default=0)
    room = width - _GAP * (count - 1)
    if room < count:
        return [piece for row in rows for piece in fold(Text(" " * _GAP).join(row), width)]
    sizes = [max(row[i].cell_len for row in rows if i < len(row)) for i in range(count)]
    if sum(sizes) > room:
        sizes = _narrowed(sizes, room)
    return [line for row in rows for line in _row(row, sizes, words)]


def _narrowed(sizes: Sequence[int], room: int) -> list[int]:
    """The sizes with the widest made narrower until they fit, or are the narrowest."""
    levels = range(_NARROWEST_CELL, max(sizes))
    fitting = bisect_right(levels, room, key=lambda level: sum(min(size, level) for size in sizes))
    level = _NARROWEST_CELL + max(fitting - 1, 0)
    narrowed = [min(size, level) for size in sizes]
    spare = max(room - sum(narrowed), 0)
    wider = [index for index, size in enumerate(sizes) if size > level]
    for index in wider[len(wider) - spare :] if spare else ():
        narrowed[index] += 1
    return narrowed


def _row(row: Sequence[Text], sizes: Sequence[int], words: bool) -> Iterable[Text]:
    folded = [fold(cell, max(size, 1), words=words) for cell, size in zip(row, sizes, strict=False)]
    for pieces in zip_longest(*folded, fillvalue=Text()):
        line = Text()
        for piece, size in zip(pieces, sizes, strict=False):
            line.append_text(piece)
            line.append(" " * (size - piece.cell_len + _GAP))
        line.rstrip()
        yield line


class WordWrap:
    """Breaks running text between words while it streams; holds back the last word only.

    A line whose first word is one of `ours`, the signs that our own lines begin with, is moved
    in: what is said can then not be taken for what is asked or was done.
    """

    def __init__(self, ours: str = "") -> None:
        self._ours = ours
        self._column = 0
        self._hang = 0
        self._gap = ""
        self._word = Text()

    def begin(self, lead: Text) -> Text:
        """Begin a line with `lead`, below whose end its further lines begin."""
        self._column = self._hang = lead.cell_len
        return lead

    def feed(self, text: str, width: int, style: str = "") -> Text:
        """The next piece with line breaks put in."""
        out = Text()
        for piece in _WORD.findall(text):
            if piece == "\n":
                out.append_text(self.finish(width)).append("\n")
            elif piece[0] == " ":
                out.append_text(self._place(width))
                self._gap += piece
            else:
                self._word.append(piece, style)
                if len(self._word) > width:
                    out.append_text(self._place(width))
        return out

    def finish(self, width: int) -> Text:
        """The word that was held back; the next one begins a line."""
        placed = self._place(width)
        self._column = self._hang = 0
        self._gap = ""
        return placed

    def _place(self, width: int) -> Text:
        if not self._word:
            return Text()
        word, gap = self._word, self._gap
        self._word, self._gap = Text(), ""
        if self._column and self._column + len(gap) + word.cell_len <= width:
            self._column += len(gap) + word.cell_len
            return Text(gap).append_text(word)
        hang = min(self._hang, width // 2)
        breaks = self._column > hang
        if not self._column and word.plain not in self._ours:
            word = Text(gap).append_text(word)
        pieces = fold(word, width - hang)
        if not hang and (breaks or not self._column):
            pieces = [self._moved_in(piece) for piece in pieces]
        self._column = hang + pieces[-1].cell_len
        margin = Text("\n" + " " * hang)
        return (margin if breaks else Text()).append_text(margin.join(pieces))

    def _moved_in(self, piece: Text) -> Text:
        return Text("  ").append_text(piece) if piece.plain in self._ours else piece


def _draw_escaped(line: str, looks: Looks) -> Text:
    # The piece of a marked line may itself be plain: its backslashes are doubled all the same.
    written = escaped(line, looks.encoding)
    text = Text(written if written is not None else line.replace("\\", "\\\\"))
    text.highlight_regex(_ESCAPE, "escape")
    return text


def _draw_tabs(line: str, looks: Looks) -> Text:
    text = Text()
    for number, piece in enumerate(line.split("\t")):
        if number:
            text.append(looks.glyphs.tab.ljust(_TAB - text.cell_len % _TAB), "faint")
        text.append(piece)
    return text


def _dot_ends(text: Text, line: str, looks: Looks) -> None:
    spaces = len(line) - len(line.rstrip(" "))
    if spaces:
        text.right_crop(spaces)
        text.append(looks.glyphs.dot * spaces, "faint")
