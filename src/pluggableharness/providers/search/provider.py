"""The two operations on what is beneath the roots, as the model sees them (C7 to C9)."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final

from pluggableharness.providers.search.area import Area, opened
from pluggableharness.providers.search.content import Content, Match
from pluggableharness.providers.search.globbing import Found, Sort, find
from pluggableharness.providers.search.grepping import Query, search
from pluggableharness.providers.search.hits import Hits, Mode
from pluggableharness.providers.search.literal import named_file, refuse_unsayable
from pluggableharness.providers.search.pattern import Pattern, parse
from pluggableharness.providers.search.results import GlobResult, GrepResult, draw_glob, draw_grep
from pluggableharness.providers.search.selection import (
    Selection,
    Skipped,
    left_out,
    some_of,
    time_to_count,
    warnings_of,
)
from pluggableharness.sdk import Context, Doc, Ge, Le, MinLength, Provider
from pluggableharness.sdk.jail import Jail, jail_for
from pluggableharness.sdk.render import Node

_FIELDS: Final = tuple(each.name for each in fields(Match))


@dataclass(frozen=True, slots=True)
class Settings:
    """The provider's block in agent.hcl."""

    allowed_roots: Annotated[
        list[str],
        Doc("Folders that are searched; the working directory of the call when empty"),
    ] = field(default_factory=list)


provider = Provider("search", settings=Settings)

_HIDDEN = Doc("Whether wildcards match names that begin with a dot, too; never .git")
_IGNORED = Doc("Whether files that .gitignore and its like leave out are found, too")


@provider.data_source(name="glob", idempotent=True)
async def find_files(
    ctx: Context[Settings],
    pattern: Annotated[
        str,
        MinLength(1),
        Doc(
            "As *.py for names at any depth, or with a / as src/**/*.{ts,tsx} for paths from the "
            "folder on; ./*.py for the folder alone; may be absolute"
        ),
    ],
    path: Annotated[
        str | None, Doc("The folder to look in; by default the working directory")
    ] = None,
    hidden: Annotated[bool, _HIDDEN] = False,
    ignored: Annotated[bool, _IGNORED] = False,
    sort: Annotated[Sort, Doc("By path, or by the time of change with the newest first")] = "path",
    limit: Annotated[int, Ge(1), Le(10_000), Doc("How many paths are listed at most")] = 200,
) -> GlobResult:
    """Find files by name.

    `*` and `?` do not match `/`, `**` goes over folders, `[a-z]` and `{a,b}` work. A dot at the
    start of a name has to be written out, unless hidden is set: .github/**/*.yml. A path without
    a wildcard is found whatever it is. Links to files and folders are followed only where they
    are written out. `skipped` says what was left out: look at it before believing that there is
    nothing.
    """
    refuse_unsayable(pattern=pattern, path=path)
    chosen = Selection(parse(pattern), hidden, ignored)
    if chosen.pattern.names_git or ".git" in (path or "").split("/"):
        return GlobResult([], 0, False, Skipped(), ["what is in .git is never listed"])
    named = named_file(_jail(ctx), ctx.working_directory, path, pattern, chosen.pattern)
    if chosen.pattern.literal is not None and not chosen.pattern.at_any_depth:
        return GlobResult([named] if named else [], int(bool(named)), False, Skipped(), [])
    with _area(ctx, path, chosen.pattern, may_be_file=False) as area:
        if area is None:
            return GlobResult([], 0, False, Skipped(), [])
        found = Found(area, sort, limit, chosen.pattern.literal if named else None)
        ending = await find(area, chosen, found)
        within_s = time_to_count(found.total > 0, ending.cpu_s)
        skipped = await left_out(area, chosen, found.total, within_s)
        paths = found.shown()
        return GlobResult(
            paths,
            found.total,
            len(paths) < found.total,
            skipped,
            some_of(warnings_of(ending, area)),
        )


@provider.data_source(name="grep", idempotent=True, streaming=True)
async def find_text(
    ctx: Context[Settings],
    pattern: Annotated[
        str,
        MinLength(1),
        Doc("A regular expression as of Rust's regex: no look-around, no back-references"),
    ],
    path: Annotated[
        str | None, Doc("The file or folder to search; by default the working directory")
    ] = None,
    glob: Annotated[
        str | None,
        Doc("Only files that match this, as for the operation glob; or with ! before it, all but"),
    ] = None,
    type: Annotated[  # noqa: A002  # what ripgrep and the model call it
        str | None, Doc("Only files of this type, as ripgrep knows them: py, js, rust")
    ] = None,
    ignore_case: Annotated[bool, Doc("Whether case makes no difference")] = False,
    literal: Annotated[bool, Doc("Whether pattern is the text itself")] = False,
    multiline: Annotated[
        bool,
        Doc("Whether a match may go over line ends; write \\r?\\n where a file has CR LF"),
    ] = False,
    before: Annotated[int, Ge(0), Le(50), Doc("Lines shown before each match")] = 0,
    after: Annotated[int, Ge(0), Le(50), Doc("Lines shown after each match")] = 0,
    mode: Annotated[
        Mode, Doc("The lines that match, the files that have any, or how many each file has")
    ] = "content",
    hidden: Annotated[bool, _HIDDEN] = False,
    ignored: Annotated[bool, _IGNORED] = False,
    limit: Annotated[int, Ge(1), Le(2_000), Doc("How many matches are shown at most")] = 100,
) -> GrepResult:
    """Search files for text, line by line, in the order of their paths.

    Binary files and those behind links are not searched, nor are hidden and ignored ones unless
    wanted or named as path; `skipped` counts them. A line with several matches is one. Counting
    stops at 10,000.
    """
    refuse_unsayable(pattern=pattern, path=path, glob=glob, type=type)
    chosen = _selection(glob, type, hidden, ignored)
    query = Query(pattern, ignore_case, literal, multiline, before, after, mode)
    with _area(ctx, path, chosen.pattern, may_be_file=True) as area:
        if area is None:
            return GrepResult([], 0, False, 0, False, Skipped(), [])
        hits = Hits(area, chosen, mode, Content(limit, before, after))
        return await _grep(ctx, area, chosen, query, hits)


async def _grep(
    ctx: Context[Settings], area: Area, chosen: Selection, query: Query, hits: Hits
) -> GrepResult:
    async def send(matches: Sequence[Match]) -> None:
        await ctx.partial({"matches": [_without_none(match) for match in matches]})

    try:
        work = await search(area, chosen, query, hits, send)
        within_s = time_to_count(hits.total > 0, work.cpu_s) if work.is_complete else 0
        skipped = await left_out(area, chosen, work.looked_at, within_s)
    except asyncio.CancelledError:
        ctx.report = {"total": hits.total, "files": hits.files}
        raise
    return GrepResult(
        list(hits.matches),
        hits.total,
        hits.has_more,
        hits.files,
        hits.is_truncated,
        skipped,
        some_of(hits.warnings),
    )


@find_files.render
def render_files(payload: dict[str, Any]) -> Node:
    """Draw a recorded result of glob (P30)."""
    return draw_glob(payload)


@find_text.render
def render_text(payload: dict[str, Any]) -> Node:
    """Draw a recorded result of grep (P30)."""
    return draw_grep(payload)


def _selection(glob: str | None, type_: str | None, hidden: bool, ignored: bool) -> Selection:
    if glob is not None and glob.startswith("!"):
        return Selection(parse("**"), hidden, ignored, type_, excluded=glob[1:])
    return Selection(parse(glob or "**"), hidden, ignored, type_)


def _jail(ctx: Context[Settings]) -> Jail:
    return jail_for(tuple(ctx.settings.allowed_roots), ctx.working_directory)


def _area(
    ctx: Context[Settings], path: str | None, pattern: Pattern, *, may_be_file: bool
) -> AbstractContextManager[Area | None]:
    base = ctx.working_directory
    return opened(_jail(ctx), base, path, pattern.prefix, may_be_file=may_be_file)


def _without_none(match: Match) -> dict[str, Any]:
    values = ((name, getattr(match, name)) for name in _FIELDS)
    return {name: value for name, value in values if value is not None}
