"""What ripgrep found: the first matches are shown, of all others there is a number (C9).

Takes ripgrep's messages one by one. What counts is lines: one that holds the pattern twice is
one match, and so are lines that one match goes over. With mode files, files are counted.
"""

from collections.abc import Sequence
from typing import Final, Literal

from pluggableharness.providers.search import messages
from pluggableharness.providers.search.area import Area
from pluggableharness.providers.search.confined import can_confine
from pluggableharness.providers.search.content import Content, Match
from pluggableharness.providers.search.searched import SearchedFile
from pluggableharness.providers.search.selection import Selection

_COUNTED: Final = 10_000
"""Matches that are counted; when there is one more, it is said that there are more."""

Mode = Literal["content", "files", "count"]


class Hits:
    """What was found so far."""

    def __init__(self, area: Area, selection: Selection, mode: Mode, content: Content) -> None:
        self.total = 0
        self.files = 0
        self.has_more = False
        """Whether there are more matches than are counted: then the search may end."""
        self.searched: int | None = None
        """How many files were searched, once ripgrep has come to its end."""
        self.warnings: list[str] = []
        self._area = area
        self._wanted = selection.wanted
        self._takes_all = selection.is_exact and can_confine()
        self._mode = mode
        self._content = content
        self._file = SearchedFile(area, "")
        self._is_wanted = False
        self._sent = 0

    @property
    def matches(self) -> Sequence[Match]:
        """The matches that are shown."""
        return self._content.matches

    @property
    def is_truncated(self) -> bool:
        """Whether there is more than is shown."""
        there_are = self.files if self._mode == "count" else self.total
        return self.has_more or len(self.matches) < there_are

    def take(self, text: bytes) -> None:
        """Take in what ripgrep says next: messages, each with its line end."""
        if self._takes_all and self._content.is_full:
            # Only numbers are wanted any more, and those of whole files come cheap.
            rest, files, text = messages.parted(text, is_open=bool(self._file.path))
            self._take_each(rest)
            if not self._count_at_once(files):
                self._take_each(files)
        self._take_each(text)

    def _count_at_once(self, files: bytes) -> bool:
        numbers = messages.numbers_of(files)
        if numbers is None or self.total + numbers[0] > _COUNTED:
            return False
        self.total += numbers[0]
        self.files += numbers[1]
        return True

    def _take_each(self, text: bytes) -> None:
        for message in text.split(b"\n"):
            self._take(message)

    def _take(self, message: bytes) -> None:
        if message.startswith((messages.MATCH, messages.CONTEXT)):
            if self._is_wanted and not self.has_more:
                self._on_line(message, is_match=message.startswith(messages.MATCH))
        elif message.startswith(messages.BEGIN):
            self._on_begin(messages.begin_of(message))
        elif message.startswith(messages.END):
            self._on_end(messages.binary_offset_of(message))
        elif message:
            self.searched = messages.searched(message)

    def new(self) -> Sequence[Match]:
        """Return the matches that are complete and were not returned before."""
        sent, self._sent = self._sent, self._content.complete
        return self.matches[sent : self._sent]

    def finish(self) -> None:
        """Close the last file, of which the search may not have seen the end."""
        if self._file.hits and self._mode == "files":
            self._content.add_file(Match(self._file.shown))
        elif self._file.hits and self._mode == "count":
            self._content.add_file(Match(self._file.shown, count=self._file.hits))
        self._content.end_file()
        self._file = SearchedFile(self._area, "")

    def _on_begin(self, path: str) -> None:
        self._file = SearchedFile(self._area, path)
        self._is_wanted = self._area.file is not None or (
            bool(self._wanted([path])) and self._area.vouches_for(path)
        )

    def _on_end(self, binary_offset: int | None) -> None:
        if binary_offset is not None and self._file.hits:
            self.warnings.append(
                f"{self._file.shown}: binary data begins at byte {binary_offset}; matches behind "
                "it may be missing"
            )
        self.finish()

    def _on_line(self, message: bytes, *, is_match: bool) -> None:
        if is_match and self.total == _COUNTED:
            self.has_more = True
            return
        if self._mode == "content" and self._content.wants_lines:
            self._show(message, is_match)
        if is_match:
            self.total += 1
            self.files += not self._file.hits
            self._file.hits += 1

    def _show(self, message: bytes, is_match: bool) -> None:
        line = messages.line_of(message)
        if line is not None and self._file.vouches_for(line):
            self._content.take(self._file, line, is_match)
        elif is_match:
            why = "is in a line too long to be shown" if line is None else "has changed since"
            self.warnings.append(f"{self._file.shown}: a match {why}")
