"""Output as a model reads it: characters, without what only a terminal understands. Pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import Final

from pluggableharness.sdk.processes import Stream

_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|\Z)"  # CSI: colours, cursor, erasing
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"  # all other sequences
)
_BROKEN: Final = re.compile("[\udc80-\udcff]")
_SILENT: Final = dict.fromkeys((*range(9), *range(14, 32), *range(127, 160)))
_AS_NEWLINE: Final = {11: "\n", 12: "\n"}


def decode(segments: Iterable[tuple[Stream, bytes | bytearray]], *, ends: bool) -> str:
    """Decode segments in their order, each stream by a decoder of its own.

    A character cut by a segment's end is whole again. Each byte that is no UTF-8 becomes one
    lone surrogate, so that `size_of` can still tell how many bytes a part of the text was;
    `readable` marks it. `ends` says that nothing follows, so half a character is broken.
    """
    decoders: dict[Stream, codecs.IncrementalDecoder] = {}
    new = codecs.getincrementaldecoder("utf-8")
    parts: list[str] = []
    for stream, data in segments:
        if stream not in decoders:
            decoders[stream] = new("surrogateescape")
        parts.append(decoders[stream].decode(bytes(data)))
    if ends:
        parts += [decoder.decode(b"", True) for decoder in decoders.values()]
    return "".join(parts)


def size_of(text: str) -> int:
    """Return how many bytes a decoded text was."""
    return len(text.encode("utf-8", "surrogateescape"))


def without_torn_start(text: str) -> str:
    """Drop the end of a character whose beginning is not there; at most three bytes."""
    torn = next((n for n, c in enumerate(text[:3]) if not "\udc80" <= c <= "\udcbf"), 3)
    return text[torn:]


def readable(text: str) -> str:
    """Return text as it would be read after it was printed: what a `\\r` overwrote is gone.

    Broken bytes are U+FFFD; escape sequences and other controls are left out.
    """
    text = _BROKEN.sub("\ufffd", _ESCAPES.sub("", text)).translate(_AS_NEWLINE)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    if "\b" in text:
        text = "\n".join(_backspaced(line) for line in text.split("\n"))
    return text.translate(_SILENT)


def _overwritten(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part), "")


def _backspaced(line: str) -> str:
    if "\b" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)
