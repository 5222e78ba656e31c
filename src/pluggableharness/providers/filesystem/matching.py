"""Finding text in a file's bytes and what takes its place there (C4; pure).

The match is literal: no character of the old or the new text has a meaning of its own. Line
ends are the one exception, since a model writes LF whatever the file holds: a line end in the
text matches LF and CR LF alike, and a line end that is written is that of the place it is
written to. Bytes outside a match never change.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from pluggableharness.providers.filesystem.diffs import Change
from pluggableharness.providers.filesystem.encoding import LATIN_1, UTF_8, Encoding

PLACES: Final = 1_000
"""Places that are counted; more than that is as good as many."""

Span = tuple[int, int]
_Find = Callable[[int], Span | None]


def folded(text: str) -> str:
    """Write every line end of a text as LF; a lone CR is a character like any other."""
    return text.replace("\r\n", "\n")


class Found(Struct, frozen=True):
    """A text that is in a file's bytes under one encoding."""

    encoding: Encoding
    places: list[Span]
    """The first PLACES, overlapping ones too: each is one that could be meant."""
    _find: _Find

    def all(self) -> Iterator[Span]:
        """Go through the places one after the other, as a replacement of all takes them."""
        return _places(self._find, self.encoding, lambda span: span[1])


def search(content: bytes, encoding: Encoding, old: str) -> Found | None:
    """Find `old`, which is not empty, in a file.

    A file that begins as UTF-8 and goes on as something else is read as Latin-1 from there, so
    it is searched like that too, when nothing is found as UTF-8.
    """
    for each in _encodings(content, encoding, old):
        try:
            find = _finder(content, each, folded(old))
        except UnicodeEncodeError:
            continue
        if places := _overlapping(find, each):
            return Found(each, places, find)
    return None


def _overlapping(find: _Find, encoding: Encoding) -> list[Span]:
    return list(islice(_places(find, encoding, lambda span: span[0] + encoding.unit), PLACES))


def _places(find: _Find, encoding: Encoding, go_on: Callable[[Span], int]) -> Iterator[Span]:
    at = len(encoding.mark)
    while (span := find(at)) is not None:
        if span[0] % encoding.unit:  # between two characters
            at = span[0] + 1
            continue
        yield span
        at = go_on(span)


def _encodings(content: bytes, encoding: Encoding, old: str) -> Iterator[Encoding]:
    yield encoding
    if encoding.name == UTF_8.name and not old.isascii() and not _is_utf_8(content):
        yield LATIN_1


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def has_pairs(content: bytes, encoding: Encoding) -> bool:
    """Whether a CR LF stands anywhere."""
    return b"\r" in content and encoding.encode("\r\n") in content


def _finder(content: bytes, encoding: Encoding, old: str) -> _Find:
    if "\n" in old and has_pairs(content, encoding):
        return _by_pattern(content, encoding, old)
    wanted = encoding.encode(old)

    def find(at: int) -> Span | None:
        start = content.find(wanted, at)
        return None if start < 0 else (start, start + len(wanted))

    return find


def _by_pattern(content: bytes, encoding: Encoding, old: str) -> _Find:
    cr, feed = re.escape(encoding.encode("\r")), re.escape(encoding.newline)
    # A match may not begin between the two, or a CR LF would count as two places.
    line_end = b"(?:%b%b|(?<!%b)%b)" % (cr, feed, cr, feed)
    pattern = re.compile(
        line_end.join(re.escape(encoding.encode(line)) for line in old.split("\n"))
    )

    def find(at: int) -> Span | None:
        match = pattern.search(content, at)
        return match.span() if match else None

    return find


class Replacement(Struct, frozen=True):
    """The new text for any match, with the line ends of the place."""

    content: bytes
    encoding: Encoding
    lines: tuple[bytes, ...]
    """The new text, taken apart at its line ends."""
    paired: bool
    """Whether any line of the file ends in CR LF."""

    def at(self, span: Span) -> Change:
        """Make the change that puts the new text in the place of a match."""
        if len(self.lines) == 1:
            return Change(*span, self.lines[0])
        ends = self._ends(span)
        pieces = [self.lines[0]]
        for number, line in enumerate(self.lines[1:]):
            pieces += [ends[min(number, len(ends) - 1)], line]
        return Change(*span, b"".join(pieces))

    def _ends(self, span: Span) -> list[bytes]:
        """List the line ends of a match in order; of its surroundings when it has none."""
        if not self.paired:
            return [self.encoding.newline]
        inside = self._ends_between(*span)
        return inside or [self._end_after(span[1]) or self._end_before(span[0])]

    def _ends_between(self, start: int, end: int) -> list[bytes]:
        ends: list[bytes] = []
        while (at := self.encoding.find_newline(self.content, start, end)) >= 0:
            ends.append(self._end_at(at))
            start = at + self.encoding.unit
        return ends

    def _end_after(self, start: int) -> bytes:
        at = self.encoding.find_newline(self.content, start, len(self.content))
        return self._end_at(at) if at >= 0 else b""

    def _end_before(self, end: int) -> bytes:
        return self._end_at(self.encoding.rfind_newline(self.content, 0, end))

    def _end_at(self, at: int) -> bytes:
        pair = self.encoding.encode("\r\n")
        is_pair = self.content.endswith(pair, 0, at + self.encoding.unit)
        return pair if is_pair else self.encoding.newline


def replacement(content: bytes, encoding: Encoding, new: str) -> Replacement:
    """Prepare the new text. Raises UnicodeEncodeError when the encoding cannot hold it."""
    lines = tuple(encoding.encode(line) for line in folded(new).split("\n"))
    return Replacement(content, encoding, lines, len(lines) > 1 and has_pairs(content, encoding))
