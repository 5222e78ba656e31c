"""The matches that are shown, with the lines around them (C9).

Lines come once, in order, whether they match or stand around a match; each goes to every match
that wants it. Bounded: so many matches, so much text.
"""

from collections import deque
from dataclasses import dataclass
from typing import Annotated, Final

from pluggableharness.providers.search.excerpt import around, cut, lines_of
from pluggableharness.providers.search.messages import Line, bytes_of
from pluggableharness.providers.search.searched import SearchedFile
from pluggableharness.sdk import Doc

TEXT_LIMIT: Final = 256 << 10
"""Characters of all matches together, after which no more are shown."""


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matches; with mode files or count, a file that has such lines."""

    path: str
    line: Annotated[int | None, Doc("Number of the line, from 1")] = None
    column: Annotated[
        int | None, Doc("Where in the line the first match begins, in characters from 1")
    ] = None
    text: Annotated[
        str | None, Doc("The line without its line end; of a long one what is around the match")
    ] = None
    text_column: Annotated[
        int | None, Doc("Only when text is a part of the line: the column that it begins at")
    ] = None
    before: Annotated[list[str] | None, Doc("The lines before it, if asked for")] = None
    after: Annotated[list[str] | None, Doc("The lines after it, if asked for")] = None
    count: Annotated[int | None, Doc("With mode count: how many lines of the file match")] = None


class Content:
    """The matches that were found so far and are shown."""

    def __init__(self, limit: int, before: int, after: int) -> None:
        self.matches: list[Match] = []
        self._limit = limit
        self._before = before
        self._after = after
        self._room = TEXT_LIMIT
        # ripgrep gives as many lines before a match as are asked for, so no older ones are left.
        self._recent: deque[str] = deque(maxlen=before)
        self._waiting: list[tuple[int, list[str]]] = []
        """The `after` of matches that are not complete, with the last line of each."""

    @property
    def is_full(self) -> bool:
        """Whether no further match is shown."""
        return len(self.matches) >= self._limit or self._room <= 0

    @property
    def wants_lines(self) -> bool:
        """Whether a line can still change what is shown."""
        return not self.is_full or bool(self._waiting)

    @property
    def complete(self) -> int:
        """How many of the matches have all their lines."""
        return len(self.matches) - len(self._waiting)

    def add_file(self, match: Match) -> None:
        """Show a file as a match of its own, if there is room."""
        if not self.is_full:
            self.matches.append(match)
            self._room -= len(match.path)

    def take(self, file: SearchedFile, line: Line, is_match: bool) -> None:
        """Take in the next line of a file."""
        raw, start = bytes_of(line)
        codec = file.codec(raw)
        lines = lines_of(raw.decode(codec))
        self._give(line.line_number, lines)
        if is_match and not self.is_full:
            column = len(raw[:start].decode(codec, "replace"))
            self._add(file.shown, line.line_number, column, lines)
        self._recent.extend(map(cut, lines))

    def end_file(self) -> None:
        """Expect no more lines of the file."""
        self._recent.clear()
        self._waiting.clear()

    def _add(self, path: str, number: int, column: int, lines: list[str]) -> None:
        text, text_start = around("\n".join(lines), column)
        before = list(self._recent)
        after: list[str] = []
        self.matches.append(
            Match(
                path,
                number,
                column + 1,
                text,
                None if text_start is None else text_start + 1,
                before if self._before else None,
                after if self._after else None,
            )
        )
        self._room -= len(path) + len(text) + sum(map(len, before))
        if self._after:
            self._waiting.append((number + len(lines) - 1 + self._after, after))

    def _give(self, number: int, lines: list[str]) -> None:
        """Give lines to the matches before them."""
        for last, after in self._waiting:
            given = [cut(each) for at, each in enumerate(lines, number) if at <= last]
            after += given
            self._room -= sum(map(len, given))
        behind = number + len(lines) - 1
        self._waiting = [each for each in self._waiting if each[0] > behind]
