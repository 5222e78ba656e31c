"""write_file: all of a file's content (C3). What would change, and what is said of it."""

import io
from dataclasses import dataclass
from typing import Annotated, Final

from pluggableharness.providers.filesystem.diffs import diff_of, difference, remark, text_of
from pluggableharness.providers.filesystem.encoding import HEAD, UTF_8, detect, display_name
from pluggableharness.providers.filesystem.replacing import OldFile
from pluggableharness.sdk import Doc
from pluggableharness.sdk.render import Diff

RESULT_LINES: Final = 200
"""Lines of a diff in a result."""
PREVIEW_LINES: Final = 2_000
"""Lines of a diff that is shown to a person."""
_COMPARED: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What write_file returns."""

    path: Annotated[str, Doc("The real absolute path of what was written")]
    created: Annotated[bool, Doc("Whether the file is new")]
    bytes_written: Annotated[int, Doc("Size of the file now")]
    diff: Annotated[str, Doc("What changed, as a unified diff, cut when it is long")]
    other_names: Annotated[
        int | None, Doc("How many other names (hard links) of the file keep the old text")
    ] = None


def content_of(descriptor: int) -> bytes:
    """Read an open file from its start."""
    with io.FileIO(descriptor, closefd=False) as file:
        file.seek(0)
        return file.readall()


def comparable(old: OldFile | None, new: bytes) -> bytes | None:
    """Read the old content, nothing when there is no file; None when it is too much to compare."""
    if old is None:
        return b""
    fits = max(old.status.st_size, len(new)) <= _COMPARED
    return content_of(old.descriptor) if fits else None


def diff_to(old: bytes | None, new: bytes, limit: int) -> Diff:
    """Show what becomes of a file's content, None being too much of it."""
    if old is None:
        return remark(f"too large to compare; {len(new)} bytes take the place of what is there")
    encoding = detect(old[:HEAD], whole=len(old) <= HEAD)
    if isinstance(encoding, str):
        return remark(f"{len(new)} bytes of text take the place of {encoding}, {len(old)} bytes")
    text = old
    if encoding is not UTF_8:
        text = encoding.decode(old[len(encoding.mark) :]).encode()
    diff = diff_of(text, difference(text, new), UTF_8, limit)
    if encoding is UTF_8:
        return diff
    change = remark(f"the encoding changes from {display_name(encoding)} to utf-8")
    return Diff([*diff.hunks, *change.hunks])


def named(diff: Diff, path: str, *, created: bool) -> str:
    """Write a diff as text, under the file's name."""
    return text_of(diff, "/dev/null" if created else path, path)
