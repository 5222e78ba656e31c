"""edit_file: one exact text for another in a file's bytes (C4).

Takes bytes and gives pieces of bytes; the file itself is somebody else's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final

from msgspec import Struct

from pluggableharness.providers.filesystem.closest import LOOKED_AT, closest
from pluggableharness.providers.filesystem.diffs import Change, diff_of
from pluggableharness.providers.filesystem.encoding import Encoding
from pluggableharness.providers.filesystem.known import Pieces
from pluggableharness.providers.filesystem.matching import (
    PLACES,
    Found,
    Replacement,
    Span,
    folded,
    replacement,
    search,
)
from pluggableharness.sdk import Doc, ExecutionFailed, InvalidArguments
from pluggableharness.sdk.jail import visible
from pluggableharness.sdk.render import Diff

EDIT_LIMIT: Final = 256 << 20
"""Bytes of a file that edit_file holds in memory."""
_CHANGES_SHOWN: Final = 200
_LINES_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class EditResult:
    """What edit_file returns."""

    path: Annotated[str, Doc("The real absolute path of what was changed")]
    replacements: Annotated[int, Doc("How many places were changed")]
    diff: Annotated[str, Doc("What changed, as a unified diff, cut when it is long")]
    other_names: Annotated[
        int | None, Doc("How many other names (hard links) of the file keep the old text")
    ] = None


class Edit(Struct, frozen=True):
    """A file's new content, and what is new in it."""

    pieces: Pieces
    replacements: int
    old: bytes
    encoding: Encoding
    shown: Sequence[Change]
    """The first changes."""
    until: int | None
    """Where the changes that are not among them begin."""

    def diff(self, limit: int) -> Diff:
        """Show the changes in about `limit` lines."""
        return diff_of(self.old, self.shown, self.encoding, limit, self.until)


def check_texts(old: str, new: str) -> None:
    """Refuse texts that mean nothing in any file. Raises InvalidArguments."""
    if not old:
        raise InvalidArguments(
            "old_str must not be empty: give the text to be replaced. To make a file, or to "
            "replace all of one, use write_file."
        )
    if folded(old) == folded(new):
        raise InvalidArguments("old_str and new_str are the same: there is nothing to change.")
    for field, text in (("old_str", old), ("new_str", new)):
        check_characters(field, text)


def check_characters(field: str, text: str) -> None:
    """Refuse half of a surrogate pair, which no file can hold. Raises InvalidArguments."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArguments(
            f"{field} holds half of a surrogate pair, {visible(text[error.start])}, at character "
            f"{error.start + 1}: send whole characters."
        ) from None


def edit(
    content: bytes, encoding: Encoding, texts: tuple[str, str], replace_all: bool, shown: str
) -> Edit:
    """Replace the first of `texts` by the second: where it stands once, or everywhere.

    `shown` names the file in messages. Raises ExecutionFailed for no match, with the closest
    place, and for several without `replace_all`, with their lines; InvalidArguments for a text
    that the file's encoding cannot hold.
    """
    old, new = texts
    found = search(content, encoding, old)
    if found is None:
        raise _not_found(content, encoding, old, shown)
    if len(found.places) > 1 and not replace_all:
        raise _ambiguous(content, found, shown)
    try:
        by = replacement(content, found.encoding, new)
    except UnicodeEncodeError as error:
        raise InvalidArguments(
            f"new_str holds {visible(error.object[error.start])} "
            f"(U+{ord(error.object[error.start]):04X}), which {shown} cannot hold: its encoding "
            f"is {found.encoding.name}. Write it another way, or convert the file first."
        ) from None
    return _everywhere(content, found, by) if replace_all else _once(content, found, by)


def _once(content: bytes, found: Found, by: Replacement) -> Edit:
    change = by.at(found.places[0])
    whole = memoryview(content)
    pieces = (whole[: change.start], change.new, whole[change.end :])
    return Edit(pieces, 1, content, found.encoding, (change,), None)


def _everywhere(content: bytes, found: Found, by: Replacement) -> Edit:
    made = bytearray()
    at = count = 0
    for span in found.all():
        made += content[at : span[0]]
        made += by.at(span).new
        at = span[1]
        count += 1
    pieces = (made, memoryview(content)[at:])
    first = [by.at(span) for span in islice(found.all(), _CHANGES_SHOWN + 1)]
    until = first[-1].start if len(first) > _CHANGES_SHOWN else None
    return Edit(pieces, count, content, found.encoding, first[:_CHANGES_SHOWN], until)


def _ambiguous(content: bytes, found: Found, shown: str) -> ExecutionFailed:
    lines = _lines_of(content, found.encoding, found.places[:_LINES_NAMED])
    count = len(found.places)
    times = f"{count} times or more" if count == PLACES else f"{count} times"
    more = ", …" if count > len(lines) else ""
    return ExecutionFailed(
        f"old_str is in {shown} {times}, on lines {', '.join(map(str, lines))}{more}. Add lines "
        "around it, so that it stands there once, or set replace_all to change every place.",
        details={"count": count, "lines": lines},
    )


def _lines_of(content: bytes, encoding: Encoding, places: Sequence[Span]) -> list[int]:
    lines: list[int] = []
    counted, line = 0, 1
    for start, _ in places:
        line += encoding.count_newlines(content, counted, start)
        counted = start
        lines.append(line)
    return lines


def _not_found(content: bytes, encoding: Encoding, old: str, shown: str) -> ExecutionFailed:
    head = content[len(encoding.mark) : len(encoding.mark) + 2 * LOOKED_AT]
    near = closest(folded(encoding.decode(head)), folded(old))
    if near is None:
        return ExecutionFailed(
            f"old_str is not in {shown}, and nothing in it comes close. Read the file and copy "
            "the text to be replaced from it exactly.",
        )
    return ExecutionFailed(
        f"old_str is not in {shown}. The closest place begins on line {near.line} and differs in "
        f"{near.differs_in}: the file has `{near.there}` where old_str has `{near.given}`. Copy "
        "the text from the file exactly.",
        details={"line": near.line, "differs_in": near.differs_in},
    )
