"""What the two operations return, and how a recorded result is drawn (P30)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from pluggableharness.providers.search.content import Match
from pluggableharness.providers.search.selection import Skipped
from pluggableharness.sdk import Doc
from pluggableharness.sdk.render import CodeBlock, Group, Node, Style, Text


@dataclass(frozen=True, slots=True)
class GlobResult:
    """What glob returns."""

    paths: Annotated[
        list[str],
        Doc(
            "As path and pattern were given, so that read_file finds them from the same working "
            "directory; what cannot be seen in a name stands as an escape that read_file reads"
        ),
    ]
    total: Annotated[int, Doc("How many files match, whether listed or not")]
    truncated: Annotated[bool, Doc("Whether there are more than are listed")]
    skipped: Annotated[Skipped, Doc("Files that match but were left out")]
    warnings: Annotated[list[str], Doc("What could not be looked at")]


@dataclass(frozen=True, slots=True)
class GrepResult:
    """What grep returns."""

    matches: list[Match]
    total: Annotated[
        int, Doc("How many matches there are, shown or not; with mode files, how many files")
    ]
    total_is_minimum: Annotated[bool, Doc("Whether counting stopped at total: there are more")]
    files: Annotated[int, Doc("In how many files they are")]
    truncated: Annotated[bool, Doc("Whether there are more than are shown")]
    skipped: Annotated[Skipped, Doc("Files that were not searched")]
    warnings: Annotated[list[str], Doc("What could not be searched")]


def draw_glob(payload: Mapping[str, Any]) -> Node:
    """Draw the paths, one a line."""
    paths = payload["paths"]
    nodes: list[Node] = [CodeBlock("\n".join(paths))] if paths else []
    summary = f"{_numbered(payload['total'], 'file')}{_shown(payload, len(paths))}"
    return Group([*nodes, *_ending(summary, payload)])


def draw_grep(payload: Mapping[str, Any]) -> Node:
    """Draw the matches beneath the name of their file, with line numbers as grep prints them."""
    matches: Sequence[Mapping[str, Any]] = payload["matches"]
    nodes: list[Node] = []
    for path, group in groupby(matches, key=lambda match: match["path"]):
        nodes += _file(path, list(group))
    least = "at least " if payload["total_is_minimum"] else ""
    summary = (
        f"{least}{_numbered(payload['total'], 'match', 'matches')} in "
        f"{_numbered(payload['files'], 'file')}{_shown(payload, len(matches))}"
    )
    return Group([*nodes, *_ending(summary, payload)])


def _file(path: str, matches: list[Mapping[str, Any]]) -> list[Node]:
    if "line" not in matches[0]:
        count = matches[0].get("count")
        return [Text(path if count is None else f"{path}: {count}", Style.CODE)]
    lines = [line for match in matches for line in _lines(match)]
    return [Text(path, Style.BOLD), CodeBlock("\n".join(lines))]


def _lines(match: Mapping[str, Any]) -> list[str]:
    first = match["line"]
    before, after = match.get("before", ()), match.get("after", ())
    text = match["text"].split("\n")
    return [
        *(f"{number}-{line}" for number, line in enumerate(before, first - len(before))),
        *(f"{number}:{line}" for number, line in enumerate(text, first)),
        *(f"{number}-{line}" for number, line in enumerate(after, first + len(text))),
    ]


def _ending(summary: str, payload: Mapping[str, Any]) -> list[Node]:
    skipped = payload["skipped"]
    kinds = [f"{skipped[kind]} {kind}" for kind in ("hidden", "ignored") if skipped[kind]]
    left_out = f"; left out: {' and '.join(kinds)}" if kinds else ""
    return [
        Text(summary + left_out, Style.DIM),
        *(Text(warning, Style.WARNING) for warning in payload["warnings"]),
    ]


def _numbered(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _shown(payload: Mapping[str, Any], number: int) -> str:
    return f", the first {number:,} shown" if payload["truncated"] else ""
