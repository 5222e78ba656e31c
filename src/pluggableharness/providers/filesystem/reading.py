"""read_file: numbered lines of a text file (C2).

Owns the limits of one call and what is cut. The path has been opened by the jail.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Struct

from pluggableharness.providers.filesystem import known
from pluggableharness.providers.filesystem.encoding import (
    HEAD,
    LATIN_1,
    UTF_8,
    UTF_8_MARKED,
    Encoding,
    detect,
    display_name,
)
from pluggableharness.providers.filesystem.lines import (
    LINE_LIMIT,
    Index,
    Line,
    index,
    read_lines,
    start_of,
)
from pluggableharness.sdk import Doc, ExecutionFailed, InvalidArguments

_LINES_LIMIT: Final = 2_000
_CONTENT_LIMIT: Final = 256 << 10
"""Bytes of UTF-8 that one call returns at most."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What read_file returns."""

    path: Annotated[str, Doc("The real absolute path of what was read")]
    content: Annotated[
        str,
        Doc(
            "The lines, each as its number, '|' and the text of the line. A line longer than "
            f"{LINE_LIMIT} characters is cut, and says so"
        ),
    ]
    start_line: Annotated[int, Doc("Number of the first line in content; 0 when there is none")]
    end_line: Annotated[int, Doc("Number of the last line in content; 0 when there is none")]
    total_lines: Annotated[int, Doc("Lines in the whole file")]
    truncated: Annotated[bool, Doc("Whether lines that were asked for are missing or cut")]
    encoding: Annotated[str, Doc("utf-8, utf-8-sig, utf-16-le, utf-16-be or latin-1")]
    newline: Annotated[
        str,
        Doc(
            "lf, crlf, mixed or none. With crlf every line ends in CR LF and content leaves the "
            "CR out; with mixed the CR is in content"
        ),
    ]
    size_bytes: Annotated[int, Doc("Size of the file")]
    ends_without_newline: Annotated[
        bool | None, Doc("True when the last line in content is the file's and has no line end")
    ] = None


class Reading(Struct, frozen=True):
    """A result, and the version of the file that it was taken from."""

    result: ReadResult
    version: known.Version


def sniff(head: bytes, size: int, shown: str) -> Encoding:
    """Tell a file's encoding from its first HEAD bytes.

    Raises ExecutionFailed with kind and size for a binary file.
    """
    found = detect(head, whole=len(head) < HEAD)
    if isinstance(found, Encoding):
        return found
    raise ExecutionFailed(
        f"{shown} is {found} of {size} bytes, not text. Use a program that understands it.",
        details={"kind": found, "size_bytes": size},
    )


def read(
    descriptor: int,
    path: str,
    wanted: tuple[int | None, int | None],
    check: Callable[[], None],
) -> Reading:
    """Read lines `wanted` (first, last: from 1, from the end when negative, None for open).

    `check` may raise between chunks to give up. Raises InvalidArguments for lines that do not
    exist, ExecutionFailed for a binary file.
    """
    status = os.fstat(descriptor)
    head = os.pread(descriptor, HEAD, 0)
    encoding = sniff(head, status.st_size, path)
    digest = known.new_digest() if known.needs_digest(status) else None
    found = index(descriptor, encoding, status.st_size, check, digest)
    first, last = resolve(wanted, found.total)
    lines, encoding = _take(descriptor, encoding, found, first, last)
    newline = _newline(encoding.decode(head), lines)
    at_end = bool(lines) and first + len(lines) - 1 == found.total
    cut = any(line.is_cut for line in lines)
    result = ReadResult(
        path=path,
        content="\n".join(_numbered(lines, first, newline)),
        start_line=first if lines else 0,
        end_line=first + len(lines) - 1 if lines else 0,
        total_lines=found.total,
        truncated=cut or len(lines) < last - first + 1,
        encoding=display_name(encoding),
        newline=newline,
        size_bytes=status.st_size,
        ends_without_newline=True if at_end and not lines[-1].ending else None,
    )
    seen = known.Version(known.stamp_of(status), digest.digest() if digest else None)
    return Reading(result, seen)


def resolve(wanted: tuple[int | None, int | None], total: int) -> tuple[int, int]:
    """Turn what was asked for into first and last line; (1, 0) when the file has no line.

    Raises InvalidArguments that says how many lines there are.
    """
    if total == 0:
        return 1, 0
    first, last = (1 if wanted[0] is None else wanted[0]), (-1 if wanted[1] is None else wanted[1])
    if first == 0 or last == 0:
        raise InvalidArguments(
            "start_line and end_line count from 1, or from -1 for the last line; 0 is no line."
        )
    first = first if first > 0 else max(1, total + 1 + first)
    last = min(last, total) if last > 0 else total + 1 + last
    if first > total:
        raise InvalidArguments(f"start_line {first} is beyond the end: there are {total} lines.")
    if last < first:
        raise InvalidArguments(
            f"end_line {wanted[1]} comes before start_line {wanted[0]}: there are {total} lines."
        )
    return first, last


def _take(
    descriptor: int, encoding: Encoding, found: Index, first: int, last: int
) -> tuple[list[Line], Encoding]:
    """Read the lines, as Latin-1 when they turn out not to be the UTF-8 that the head was."""
    if last < first:
        return [], encoding
    start = start_of(descriptor, encoding, found, first)
    count = min(last - first + 1, _LINES_LIMIT)
    lines = _limited(read_lines(descriptor, encoding, start, found.size), first, count)
    if encoding in (UTF_8, UTF_8_MARKED) and not all(_is_text(line.text) for line in lines):
        encoding = LATIN_1
        lines = _limited(read_lines(descriptor, encoding, start, found.size), first, count)
    return lines, encoding


def _limited(lines: Iterator[Line], first: int, count: int) -> list[Line]:
    taken: list[Line] = []
    room = _CONTENT_LIMIT
    for number, line in enumerate(lines, first):
        room -= len(line.text.encode("utf-8", "surrogatepass")) + len(f"{number}|\n")
        room -= len(_cut_mark(line))
        if len(taken) == count or room < 0:
            break
        taken.append(line)
    return taken


def _is_text(text: str) -> bool:
    """Whether no byte of it had to be escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _newline(head: str, lines: list[Line]) -> str:
    """Name the line ends of the head and of the lines returned."""
    feeds, pairs = head.count("\n"), head.count("\r\n")
    endings = {line.ending for line in lines}
    has_pairs = pairs > 0 or "\r\n" in endings
    has_bare = feeds > pairs or "\n" in endings
    if has_pairs and has_bare:
        return "mixed"
    return "crlf" if has_pairs else "lf" if has_bare else "none"


def _numbered(lines: list[Line], first: int, newline: str) -> Iterator[str]:
    for number, line in enumerate(lines, first):
        shown_end = "\r" if newline == "mixed" and line.ending == "\r\n" else ""
        yield f"{number}|{line.text}{_cut_mark(line)}{shown_end}"


def _cut_mark(line: Line) -> str:
    if not line.is_cut:
        return ""
    return f"… [cut after {LINE_LIMIT} of {line.length} characters]"
