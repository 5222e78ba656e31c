"""Markdown as it streams, drawn as it comes: headings, lists, code, quotes, tables. Uses rich.

Every character is written once. A line is held back until its beginning says what it is, a
line of code until it ends, a table until something else follows.
"""

import re
from enum import Enum, auto

from rich.text import Text

from pluggableharness.kernel.frontends.inline import Inline, Piece, inline
from pluggableharness.kernel.frontends.lines import WordWrap, columns, fold
from pluggableharness.kernel.frontends.looks import Looks

_MOST_HELD = 4096
_MOST_ROWS = 200
_MARGIN = "  "
_BLOCK = re.compile(
    r"(?P<indent> *)(?:(?P<heading>#{1,6}) +(?=\S)|(?P<bullet>[-*+]) +(?=\S)"
    r"|(?P<number>\d{1,3}[.)]) +(?=\S)|(?P<quote>>) ?|(?P<fence>`{3,}|~{3,})|(?P<row>\|))"
)
_UNDECIDED = re.compile(r" *(?:#{1,6} *|[-*_+](?:[-*_ ]*)|\d{1,3}(?:[.)] *)?|`{1,2}|~{1,2})?\Z")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *\Z")
_CLOSING = re.compile(r" *(`{3,}|~{3,}) *\Z")
_DIVIDER = re.compile(r"\|?[\s:|-]+\|?\Z")


class _State(Enum):
    """What the line that streams is, as far as it is known."""

    START = auto()
    FLOW = auto()
    HELD = auto()


class MarkdownText:
    """Draws one message; `finish` ends it, and another may follow."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._wrap = WordWrap(looks.glyphs.ours)
        self._inline = Inline()
        self._state = _State.START
        self._line = ""
        self._style = ""
        self._fence = ""
        self._table: list[str] = []

    def feed(self, text: str, width: int) -> Text:
        """What can be drawn after the next piece of safe text."""
        out = Text()
        for number, part in enumerate(text.split("\n")):
            if number:
                out.append_text(self._end_of_line(width))
            if part:
                out.append_text(self._part(part, width))
        return out

    def finish(self, width: int) -> Text:
        """What was held back."""
        out = Text()
        if self._line or self._state is not _State.START:
            out.append_text(self._end_of_line(width))
        out.append_text(self._table_drawn(width))
        self._fence = ""
        out.right_crop(1 if out.plain.endswith("\n") else 0)
        return out

    def _part(self, part: str, width: int) -> Text:
        if self._state is _State.FLOW:
            return self._flow(self._inline.feed(part), width)
        self._line += part
        if self._fence or self._state is _State.HELD:
            return Text() if len(self._line) <= _MOST_HELD else self._end_of_line(width)
        if _UNDECIDED.match(self._line) and len(self._line) <= _MOST_HELD:
            return Text()
        return self._begin(width)

    def _begin(self, width: int) -> Text:
        """Draw the beginning of a line, now that it says what the line is."""
        line, block = self._line, _BLOCK.match(self._line)
        if block and (block["fence"] or block["row"]):
            self._state = _State.HELD
            return Text()
        self._line, self._state = "", _State.FLOW
        out = self._table_drawn(width)
        if block is None:
            return out.append_text(self._flow(self._inline.feed(line), width))
        lead = Text(block["indent"])
        if block["heading"]:
            self._style = "strong"
        elif block["bullet"]:
            lead.append(self._looks.glyphs.bullet + " ", "faint")
        elif block["number"]:
            lead.append(block["number"] + " ", "faint")
        elif block["quote"]:
            lead.append(_MARGIN + "> ", "faint")
            self._style = "emphasis"
        out.append_text(self._wrap.begin(lead))
        return out.append_text(self._flow(self._inline.feed(line[block.end() :]), width))

    def _end_of_line(self, width: int) -> Text:
        line, state = self._line, self._state
        self._line, self._state = "", _State.START
        if self._fence:
            return self._code_line(line, width)
        if state is _State.HELD and (fence := _BLOCK.match(line)) and fence["fence"]:
            self._fence = fence["fence"]
            return self._table_drawn(width)
        if state is _State.HELD:
            self._table.append(line)
            return self._table_drawn(width) if len(self._table) >= _MOST_ROWS else Text()
        out = Text()
        if state is _State.START:
            out.append_text(self._short_line(line, width))
        out.append_text(self._flow(self._inline.finish(), width))
        out.append_text(self._wrap.finish(width)).append("\n")
        self._state, self._style = _State.START, ""
        return out

    def _short_line(self, line: str, width: int) -> Text:
        """A line that ended before it said what it is: empty, a rule, or a few characters."""
        out = self._table_drawn(width)
        if _RULE.match(line):
            glyph = self._looks.glyphs.rule
            return out.append(glyph * min(width, 40), "faint")
        return out.append_text(self._flow(self._inline.feed(line), width)) if line.strip() else out

    def _flow(self, pieces: list[Piece], width: int) -> Text:
        out = Text()
        for text, style in pieces:
            out.append_text(self._wrap.feed(text, width, style or self._style))
        return out

    def _code_line(self, line: str, width: int) -> Text:
        closing = _CLOSING.match(line)
        if closing and closing[1].startswith(self._fence):
            self._fence = ""
            return Text()
        pieces = fold(Text(line, "code"), max(width - len(_MARGIN), 8))
        return Text().join(Text.assemble(_MARGIN, piece, "\n") for piece in pieces)

    def _table_drawn(self, width: int) -> Text:
        lines, self._table = self._table, []
        rows = [_cells(line) for line in lines if not _DIVIDER.match(line)]
        headed = len(lines) > 1 and _DIVIDER.match(lines[1]) is not None
        for cell in rows[0] if rows and headed else ():
            cell.stylize("strong")
        room = max(width - len(_MARGIN), 8)
        # A table of very many columns does not fit, however narrow they are.
        drawn = [piece for line in columns(rows, room) for piece in fold(line, room)]
        return Text().join(Text.assemble(_MARGIN, line, "\n") for line in drawn)


def _cells(line: str) -> list[Text]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [Text.assemble(*inline(cell.strip())) for cell in re.split(r"(?<!\\)\|", inner)]
