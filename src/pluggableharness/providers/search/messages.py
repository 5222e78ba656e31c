"""What ripgrep says as JSON lines, read in bounded memory, and text as read_file shows it (C9).

Knows nothing of what is kept of it.
"""

import codecs
import os
from base64 import b64decode
from typing import Final

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

LONGEST_MESSAGE: Final = 4 << 20
"""Bytes of a message that are held; one of a longer line is known by its beginning only."""
_KEPT_OF_TOO_LONG: Final = 4096
HEAD: Final = 1 << 20
"""Bytes at the start of a file that tell its encoding, as many as for read_file."""

BEGIN: Final = b'{"type":"begin"'
MATCH: Final = b'{"type":"match"'
CONTEXT: Final = b'{"type":"context"'
END: Final = b'{"type":"end"'

_MARK: Final = codecs.BOM_UTF8
_WIDE_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


Buffer = bytes  # the name is taken in the class below


class Data(Struct, frozen=True):
    """Text, or bytes in base64 where they are not UTF-8."""

    text: str | None = None
    bytes: str | None = None

    @property
    def raw(self) -> Buffer:
        """The bytes that were found."""
        if self.text is not None:
            return self.text.encode()
        return b64decode(self.bytes or "")


class Submatch(Struct, frozen=True):
    """Where in a line the pattern matched, in bytes."""

    start: int
    end: int


class Line(Struct, frozen=True):
    """A line, or the lines that matches of several lines share."""

    lines: Data
    line_number: int
    absolute_offset: int
    submatches: list[Submatch]


class FileBegin(Struct, frozen=True):
    """The first match of a file comes next."""

    path: Data


class FileEnd(Struct, frozen=True):
    """There is nothing more about a file."""

    binary_offset: int | None


class Stats(Struct, frozen=True):
    """What was done."""

    searches: int


class Summary(Struct, frozen=True):
    """All has been said."""

    stats: Stats


class _Begin(Struct):
    data: FileBegin


class _Line(Struct):
    data: Line


class _End(Struct):
    data: FileEnd


class _Summary(Struct):
    data: Summary


_begin = Decoder(_Begin)
_line = Decoder(_Line)
_end = Decoder(_End)
_summary = Decoder(_Summary)


def begin_of(message: bytes) -> str:
    """Return the path that a begin message names, as the system's functions take it."""
    return os.fsdecode(_begin.decode(message).data.path.raw).removeprefix("./")


def line_of(message: bytes) -> Line | None:
    """Read a match or context message; None for one that was too long to be held."""
    try:
        return _line.decode(message).data
    except DecodeError:
        return None


def binary_offset_of(message: bytes) -> int | None:
    """Return at which byte of a file ripgrep found binary data, from its end message."""
    return _end.decode(message).data.binary_offset


def searched(message: bytes) -> int:
    """Return how many files were searched, from the summary."""
    return _summary.decode(message).data.stats.searches


class Messages:
    """Parts a stream where messages end; keeps at most one, and only the head of a huge one."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> bytes:
        """Take what was read next; return all that is whole now, with its last line end."""
        whole, end, self._rest = (self._rest + chunk).rpartition(b"\n")
        if len(self._rest) > LONGEST_MESSAGE:
            # The byte that is no UTF-8 keeps head and tail from passing for a message.
            self._rest = self._rest[:_KEPT_OF_TOO_LONG] + b"\xff"
        return whole + end


def parted(text: bytes, is_open: bool) -> tuple[bytes, bytes, bytes]:
    """Part messages into the rest of an open file, whole files, and the start of the next."""
    first = _behind(text, text.find(END)) if is_open else 0
    last = _behind(text, text.rfind(END))
    return text[:first], text[first:last], text[max(first, last) :]


def _behind(text: bytes, at: int) -> int:
    """Find where the message that starts there has ended; no message, no place."""
    return text.index(b"\n", at) + 1 if at >= 0 else 0


def numbers_of(files: bytes) -> tuple[int, int] | None:
    """Count matches and files in messages about whole files; None if one has binary data in it.

    A quotation mark within a message is escaped, so nothing else looks like the start of one.
    """
    number = files.count(BEGIN)
    if files.count(b'"binary_offset":null,') != number:
        return None
    return files.count(MATCH), number


class Decoding:
    """How the text of one file is shown: as read_file does (C2).

    ripgrep has UTF-16 with a mark decoded; all else it gives as it is. That is UTF-8, unless
    the head of the file is not, or the line itself.
    """

    def __init__(self, head: bytes, *, is_whole: bool) -> None:
        self._is_latin = not (head.startswith(_WIDE_MARKS) or _is_utf8(head, is_whole))

    def codec(self, raw: bytes) -> str:
        """Name the codec for bytes of the file."""
        return "latin-1" if self._is_latin or not _is_utf8(raw, is_whole=True) else "utf-8"


def _is_utf8(data: bytes, is_whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


def is_binary(head: bytes) -> bool:
    """Tell whether read_file and ripgrep take a file that begins so for no text."""
    return b"\0" in head and not head.startswith(_WIDE_MARKS)


def bytes_of(line: Line) -> tuple[bytes, int]:
    """Return a line's bytes and where its match starts, without a byte-order mark before it."""
    raw = line.lines.raw
    start = line.submatches[0].start if line.submatches else 0
    if line.line_number == 1 and raw.startswith(_MARK):
        return raw[len(_MARK) :], max(0, start - len(_MARK))
    return raw, start
