"""Lines of a file of any size, in bounded memory (C2).

A line ends at a line feed and at nothing else, as for ripgrep. One pass counts the lines and
keeps a mark every so often; a second starts at the nearest mark and reads only what is wanted.
"""

import codecs
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from msgspec import Struct

from pluggableharness.providers.filesystem.encoding import Encoding

CHUNK: Final = 1 << 18
BLOCK: Final = 1 << 16
STEPPED: Final = 1_024
"""Bytes of a chunk in which line feeds are looked for one by one."""
LINE_LIMIT: Final = 2_000
"""Characters of one line that are shown."""


class Digest(Protocol):
    """What hashlib's objects do."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes in."""


class Index(Struct, frozen=True):
    """Where the lines of a file are."""

    total: int
    marks: list[int]
    """Line feeds up to the end of each chunk."""
    size: int
    """Bytes that were counted."""


class Line(Struct, frozen=True):
    """One line: its text without the line end, cut at LINE_LIMIT characters."""

    text: str
    length: int
    """Characters before the cut."""
    ending: str
    """Line feed, or carriage return and line feed; empty only for a file's last line."""

    @property
    def is_cut(self) -> bool:
        """Whether text is not all of the line."""
        return self.length > len(self.text)


def index(
    descriptor: int,
    encoding: Encoding,
    size: int,
    check: Callable[[], None],
    digest: Digest | None = None,
) -> Index:
    """Count the lines in the first `size` bytes, feeding them to `digest` on the way.

    `check` is called between chunks and may raise to give up.
    """
    marks: list[int] = []
    total = at = 0
    last = b""
    while at < size and (chunk := os.pread(descriptor, min(CHUNK, size - at), at)):
        check()
        total += encoding.count_newlines(chunk)
        marks.append(total)
        if digest is not None:
            digest.update(chunk)
        last = chunk
        at += len(chunk)
    unended = at > len(encoding.mark) and not last.endswith(encoding.newline)
    return Index(total + unended, marks, at)


def start_of(descriptor: int, encoding: Encoding, found: Index, number: int) -> int:
    """Find the offset at which line `number` (from 1, at most the total) begins."""
    before = number - 1
    if before == 0:
        return len(encoding.mark)
    which = bisect_left(found.marks, before)
    passed = found.marks[which - 1] if which else 0
    chunk = os.pread(descriptor, CHUNK, which * CHUNK)
    return which * CHUNK + _behind_newline(chunk, encoding, before - passed)


def _behind_newline(chunk: bytes, encoding: Encoding, count: int) -> int:
    """Find the offset behind the line feed with that number: halving, then step by step."""
    low, high = 0, len(chunk)
    while high - low > STEPPED:
        middle = (low + high) // 2 & -2  # between two units
        passed = encoding.count_newlines(chunk, low, middle)
        if passed >= count:
            high = middle
        else:
            low, count = middle, count - passed
    for _ in range(count):
        at = encoding.find_newline(chunk, low, high)
        if at < 0:  # the file changed between the passes
            return high
        low = at + encoding.unit
    return low


def read_lines(descriptor: int, encoding: Encoding, start: int, size: int) -> Iterator[Line]:
    """Read lines from an offset to `size`, each held only as far as it is shown.

    Bytes that are not of the encoding come as lone surrogates, or replaced in UTF-16.
    """
    head, length, last = "", 0, ""
    for text in _decoded(descriptor, encoding, start, size):
        at = 0
        while (end := text.find("\n", at)) >= 0:
            head += text[at : min(end, at + LINE_LIMIT)] if length < LINE_LIMIT else ""
            last = text[end - 1] if end > at else last
            yield _line(head, length + end - at, "\r\n" if last == "\r" else "\n")
            head, length, last, at = "", 0, "", end + 1
        head = (head + text[at : at + LINE_LIMIT])[:LINE_LIMIT]
        length += len(text) - at
        last = text[-1] if at < len(text) else last
    if length:
        yield _line(head, length, "")


def _line(head: str, length: int, ending: str) -> Line:
    if ending == "\r\n":
        length -= 1
    return Line(head[: min(length, LINE_LIMIT)], length, ending)


def _decoded(descriptor: int, encoding: Encoding, start: int, size: int) -> Iterator[str]:
    errors = "surrogateescape" if encoding.unit == 1 else "replace"
    decoder = codecs.getincrementaldecoder(encoding.name)(errors)
    at = start
    while at < size and (block := os.pread(descriptor, min(BLOCK, size - at), at)):
        at += len(block)
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)
