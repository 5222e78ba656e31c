"""The three operations on files, as the model and the person at the gate see them (C1 to C6)."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated, Any

from pluggableharness.providers.filesystem.access import (
    Access,
    Check,
    Target,
    opened,
    opened_for_change,
)
from pluggableharness.providers.filesystem.editing import (
    EDIT_LIMIT,
    Edit,
    EditResult,
    check_characters,
    check_texts,
    edit,
)
from pluggableharness.providers.filesystem.encoding import HEAD
from pluggableharness.providers.filesystem.known import Known, Version, digest_of, stamp_of
from pluggableharness.providers.filesystem.locks import FileLocks
from pluggableharness.providers.filesystem.reading import ReadResult, read, sniff
from pluggableharness.providers.filesystem.replacing import OldFile, replace
from pluggableharness.providers.filesystem.writing import (
    PREVIEW_LINES,
    RESULT_LINES,
    WriteResult,
    comparable,
    content_of,
    diff_to,
    named,
)
from pluggableharness.sdk import (
    Context,
    Doc,
    ExecutionFailed,
    InvalidArguments,
    NotFound,
    Provider,
    ToolFailure,
)
from pluggableharness.sdk.jail import Place, jail_for
from pluggableharness.sdk.naming import quoted
from pluggableharness.sdk.render import CodeBlock, Diff, Group, Node, Text, would_fail


@dataclass(frozen=True, slots=True)
class Settings:
    """The provider's block in agent.hcl."""

    allowed_roots: Annotated[
        list[str],
        Doc("Folders that files may be in; the working directory of the call when empty"),
    ] = field(default_factory=list)
    require_read: Annotated[
        bool,
        Doc("Whether write_file refuses an existing file that the session has not read"),
    ] = True


provider = Provider("filesystem", settings=Settings)
access = Access(FileLocks(), Known())

_PATH = Doc("A file, absolute or relative to the working directory")


@provider.data_source(idempotent=True)
async def read_file(
    ctx: Context[Settings],
    path: Annotated[str, _PATH],
    start_line: Annotated[
        int | None, Doc("First line, from 1; negative counts from the end, -1 being the last")
    ] = None,
    end_line: Annotated[int | None, Doc("Last line, inclusive, counted likewise")] = None,
) -> ReadResult:
    """Read a text file, all of it or a range of lines, each with its number.

    At most 2,000 lines or 256 KiB a call: `truncated` says when that was not all, and
    `total_lines` how much there is. Only LF and CR LF end a line. To see the end of a large
    file, give a negative start_line.
    """

    def work(place: Place, check: Check) -> ReadResult:
        with opened(place) as descriptor:
            reading = read(descriptor, place.shown, (start_line, end_line), check)
        access.known.note(ctx.session_id, place.key, reading.version)
        return reading.result

    return await access.shared(_target(ctx, path), work)


@provider.resource(risk="moderate", safe=True, key_fields=("path",), idempotent=True)
async def write_file(
    ctx: Context[Settings],
    path: Annotated[str, _PATH],
    content: Annotated[str, Doc("All of the new content, written as UTF-8 exactly as given")],
    create_parents: Annotated[bool, Doc("Whether missing folders are made")] = True,
) -> WriteResult:
    """Create a file, or replace all of one, whole or not at all.

    An existing file must have been read in this session and not have changed since. To change
    a part of a file, use edit_file.
    """
    data = _checked_content(path, content)

    def work(place: Place, check: Check) -> WriteResult:
        with opened_for_change(place) as old:
            if old is not None and ctx.settings.require_read:
                _raise(access.refusal(ctx.session_id, place, old, check))
            before = comparable(old, data)
            status = replace(place, old, (data,), check)
        version = Version(stamp_of(status), digest_of((data,)))
        access.known.note(ctx.session_id, place.key, version)
        ctx.report = {"path": place.shown, "bytes_written": len(data)}
        diff = named(diff_to(before, data, RESULT_LINES), place.shown, created=old is None)
        names = old.other_names if old else None
        return WriteResult(place.shown, old is None, len(data), diff, names)

    return await access.alone(_target(ctx, path), work, make_folders=create_parents)


@provider.resource(risk="moderate", safe=True, key_fields=("path",))
async def edit_file(
    ctx: Context[Settings],
    path: Annotated[str, _PATH],
    old_str: Annotated[
        str,
        Doc("The exact text to be replaced, without line numbers, long enough to be there once"),
    ],
    new_str: Annotated[str, Doc("The text to put in its place, taken literally")],
    replace_all: Annotated[bool, Doc("Whether every place is replaced")] = False,
) -> EditResult:
    """Replace an exact text in a file by another.

    old_str must be in the file exactly once, unless replace_all is set. Nothing in it has a
    special meaning. Line ends match whether the file has LF or CR LF, and stay what they are.
    """
    check_texts(old_str, new_str)

    def work(place: Place, check: Check) -> EditResult:
        with opened_for_change(place) as old:
            if old is None:
                raise place.missing()
            made = _edited(place, old, (old_str, new_str), replace_all)
            _replace_edited(ctx, place, old, made, check)
        ctx.report = {"path": place.shown, "replacements": made.replacements}
        diff = named(made.diff(RESULT_LINES), place.shown, created=False)
        return EditResult(place.shown, made.replacements, diff, old.other_names)

    return await access.alone(_target(ctx, path), work)


@write_file.preview
async def preview_write(
    ctx: Context[Settings], path: str, content: str, create_parents: bool = True
) -> Node:
    """Show what write_file would change, against the file as it is now (C6)."""

    def work(place: Place, check: Check) -> Node:
        if place.status is None:
            return _made(data)
        with opened(place) as descriptor:
            old = OldFile(descriptor, os.fstat(descriptor))
            diff = _shown(diff_to(comparable(old, data), data, PREVIEW_LINES))
            if not ctx.settings.require_read:
                return diff
            refusal = access.refusal(ctx.session_id, place, old, check)
        if refusal is None:
            return diff
        return Group((would_fail(refusal.message), diff))

    data = _checked_content(path, content)
    try:
        return await access.shared(_target(ctx, path), work, inline=0)
    except NotFound:  # a folder on the way
        if create_parents:
            return _made(data)
        raise


@edit_file.preview
async def preview_edit(
    ctx: Context[Settings], path: str, old_str: str, new_str: str, replace_all: bool = False
) -> Node:
    """Show what edit_file would change, against the file as it is now (C6)."""

    def work(place: Place, check: Check) -> Node:
        with opened(place) as descriptor:
            old = OldFile(descriptor, os.fstat(descriptor))
            made = _edited(place, old, (old_str, new_str), replace_all)
        return _shown(made.diff(PREVIEW_LINES))

    check_texts(old_str, new_str)
    return await access.shared(_target(ctx, path), work, inline=0)


@read_file.render
def render_read(payload: dict[str, Any]) -> Node:
    """Show the lines of a recorded result, which bear their own numbers."""
    return Text(payload["content"])


@write_file.render
@edit_file.render
def render_diff(payload: dict[str, Any]) -> Node:
    """Show the diff of a recorded result."""
    return CodeBlock(payload["diff"], "diff")


def _target(ctx: Context[Settings], path: str) -> Target:
    base = ctx.working_directory
    jail = jail_for(tuple(ctx.settings.allowed_roots), base)
    return Target(path, base, jail, ctx.approved(path))


def _checked_content(path: str, content: str) -> bytes:
    if path.endswith("/"):
        raise InvalidArguments(f"path {quoted(path)} names a folder: add the name of the file.")
    check_characters("content", content)
    return content.encode()


def _edited(place: Place, old: OldFile, texts: tuple[str, str], replace_all: bool) -> Edit:
    size = old.status.st_size
    if size > EDIT_LIMIT:
        raise ExecutionFailed(
            f"{place.shown} has {size} bytes; edit_file changes files of up to {EDIT_LIMIT}. "
            "Use a program that works on streams."
        )
    content = content_of(old.descriptor)
    encoding = sniff(content[:HEAD], len(content), place.shown)
    return edit(content, encoding, texts, replace_all, place.shown)


def _replace_edited(
    ctx: Context[Settings], place: Place, old: OldFile, made: Edit, check: Check
) -> None:
    """Put an edited content in place; whoever knew all of the old one knows the new one too."""
    seen = access.known.seen(ctx.session_id, place.key)
    if seen is None:
        replace(place, old, made.pieces, check)
        return
    # Both hashing and writing leave the interpreter to others, so they take the time of one.
    with ThreadPoolExecutor(1) as beside:
        before = beside.submit(digest_of, (made.old,))
        after = beside.submit(digest_of, made.pieces)
        status = replace(place, old, made.pieces, check)
    if seen.is_still(Version(stamp_of(old.status), before.result())):
        version = Version(stamp_of(status), after.result())
        access.known.note(ctx.session_id, place.key, version)


def _raise(refusal: ToolFailure | None) -> None:
    if refusal is not None:
        raise refusal


def _shown(diff: Diff) -> Node:
    return diff if diff.hunks else Text("Nothing would change: the file holds exactly this.")


def _made(data: bytes) -> Node:
    return _shown(diff_to(b"", data, PREVIEW_LINES)) if data else Text("An empty file is made.")
