"""What sort of text a file holds, told from its first bytes; one policy for every operation (C2).

A byte-order mark decides; else UTF-8 when the head is valid UTF-8; else Latin-1, which can hold
any bytes and so gives every one of them back. A NUL without a mark, or the signature of a known
binary format, is no text. Knows nothing of files.
"""

import codecs
from typing import Final

from msgspec import Struct

HEAD: Final = 1 << 20
"""How many bytes at the start of a file decide."""


class Encoding(Struct, frozen=True):
    """How characters are written in a file; line ends included."""

    name: str
    """The name of a codec, which leaves the mark alone."""
    mark: bytes = b""
    """The byte-order mark at the start of the file, which is no text."""
    unit: int = 1
    """Bytes that every character takes a multiple of."""

    def encode(self, text: str) -> bytes:
        """Make bytes of text, without a mark. Raises UnicodeEncodeError."""
        return text.encode(self.name)

    def decode(self, data: bytes, errors: str = "replace") -> str:
        """Make text of bytes that begin and end between characters."""
        return data.decode(self.name, errors)

    @property
    def newline(self) -> bytes:
        """The bytes of a line feed."""
        return self.encode("\n")

    def count_newlines(self, data: bytes, start: int = 0, end: int | None = None) -> int:
        """Count the line feeds in a stretch that begins and ends between units."""
        if self.unit == 1:
            return data.count(b"\n", start, len(data) if end is None else end)
        return self.decode(data[start:end]).count("\n")

    def find_newline(self, data: bytes, start: int, end: int) -> int:
        """Find the first line feed of a stretch, as bytes.find."""
        at = data.find(self.newline, start, end)
        while at % self.unit and at >= 0:  # a match between two characters
            at = data.find(self.newline, at + 1, end)
        return at

    def rfind_newline(self, data: bytes, start: int, end: int) -> int:
        """Find the last line feed of a stretch, as bytes.rfind."""
        at = data.rfind(self.newline, start, end)
        while at % self.unit and at >= 0:
            at = data.rfind(self.newline, start, at + self.unit - 1)
        return at


UTF_8: Final = Encoding("utf-8")
UTF_8_MARKED: Final = Encoding("utf-8", codecs.BOM_UTF8)
UTF_16_LE: Final = Encoding("utf-16-le", codecs.BOM_UTF16_LE, unit=2)
UTF_16_BE: Final = Encoding("utf-16-be", codecs.BOM_UTF16_BE, unit=2)
LATIN_1: Final = Encoding("latin-1")

_MARKED: Final = (UTF_8_MARKED, UTF_16_LE, UTF_16_BE)

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document or package made of one)"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\x00", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"RIFF", "a RIFF container (WAV, AVI or WebP)"),
    (b"\xff\xfe\x00\x00", "UTF-32 text"),
    (b"\x00\x00\xfe\xff", "UTF-32 text"),
)


def display_name(encoding: Encoding) -> str:
    """Name an encoding in a result: a marked UTF-8 is "utf-8-sig", as Python calls it."""
    return "utf-8-sig" if encoding is UTF_8_MARKED else encoding.name


def detect(head: bytes, *, whole: bool) -> Encoding | str:
    """Tell the encoding from the head of a file, or what sort of binary file it is.

    `whole` says that nothing follows the head, so that a character cut at its end is an error.
    """
    encoding = _marked(head) or (UTF_8 if _is_valid(head, UTF_8, whole) else LATIN_1)
    if encoding.unit > 1:
        return encoding if _is_valid(head, encoding, whole) else _kind(head)
    if b"\0" in head or (encoding is LATIN_1 and _signature(head)):
        return _kind(head)
    return encoding


def _marked(head: bytes) -> Encoding | None:
    if head.startswith(b"\xff\xfe\x00\x00"):  # would pass for a marked UTF-16 with a NUL
        return None
    return next((each for each in _MARKED if head.startswith(each.mark)), None)


def _is_valid(head: bytes, encoding: Encoding, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding.name)().decode(head, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def _signature(head: bytes) -> str:
    return next((kind for start, kind in _SIGNATURES if head.startswith(start)), "")


def _kind(head: bytes) -> str:
    return _signature(head) or "binary data"
