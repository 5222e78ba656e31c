r"""What a glob pattern means for paths (C8).

A pattern without `/` is for names at any depth, one with `/` is for paths from the searched
folder on. A wildcard does not match the dot that hides a name, a dot that is written out does.
A class also matches itself as it is written, since folders are called `[id]`. Pure: no file is
looked at.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pluggableharness.providers.search.tokens import (
    BELOW,
    Class,
    Literal,
    Names,
    Segment,
    Token,
    Wild,
    alternatives,
)
from pluggableharness.sdk import InvalidArguments
from pluggableharness.sdk.naming import named

_GIT: Final = tuple(map(Literal, ".git"))
_SPECIAL: Final = frozenset("*?[]{}\\,!^-")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was understood. Paths are matched from the folder of `prefix` on."""

    prefix: str
    """The folders that the pattern begins with and that hold no wildcard; absolute or not."""
    literal: str | None
    """The whole pattern as a path, when nothing in it is a wildcard."""
    at_any_depth: bool
    """Whether it is only a name."""
    names_git: bool
    """Whether `.git` is written out."""
    names_hidden: bool
    """Whether behind the prefix a dot is written out at the start of a name."""
    depth: int | None
    """How many folders down it reaches at most, 1 for the searched folder itself."""
    name_globs: tuple[str, ...]
    """Globs of which the last name of every match fits one; empty when any name may match."""
    is_exact: bool
    """Whether every path matches that fits a name glob and has no hidden name."""
    among_visible: re.Pattern[str]
    among_all: re.Pattern[str]

    def expression(self, hidden: bool) -> re.Pattern[str]:
        """Return what to `fullmatch` paths with; `hidden` lets wildcards match hidden names."""
        return self.among_all if hidden else self.among_visible


@lru_cache(maxsize=64)
def parse(text: str) -> Pattern:
    """Read a pattern. Raises InvalidArguments that says what cannot be understood."""
    written = alternatives(text)
    at_any_depth = all(len(names) == 1 for names in written)
    routes = [_route(names, at_any_depth) for names in written]
    absolute = _is_absolute(text, written)
    prefix = _common_prefix(routes)
    rests = [route[len(prefix) :] for route in routes]
    _refuse_ups(text, rests)
    globs = [_name_glob(rest[-1]) for rest in rests]
    return Pattern(
        prefix="/" * absolute + _text(prefix),
        literal=_literal_path(written),
        at_any_depth=at_any_depth,
        names_git=any(_GIT in route for route in routes),
        names_hidden=any(_is_hidden(name) for rest in rests for name in rest),
        depth=None if any(BELOW in rest for rest in rests) else max(map(len, rests)),
        name_globs=() if "*" in globs else tuple(globs),
        is_exact=all(map(_is_exact, rests)),
        among_visible=_compiled(rests, hidden=False),
        among_all=_compiled(rests, hidden=True),
    )


def _route(names: Names, at_any_depth: bool) -> Names:
    """Put a pattern in one form: no empty or `.` names, what is for any depth says so."""
    route = [name for name in names if name not in ((), (Literal("."),))]
    if at_any_depth:
        route.insert(0, BELOW)
    if not names[-1] or not route:
        route.append(BELOW)
    return tuple(
        name for at, name in enumerate(route) if name != BELOW or route[at - 1 : at] != [BELOW]
    )


def _is_absolute(text: str, written: Sequence[Names]) -> bool:
    absolute = {len(names) > 1 and not names[0] for names in written}
    if len(absolute) > 1:
        raise InvalidArguments(
            f"the glob {named(text)} is for absolute and for relative paths at once: "
            "use one call for each."
        )
    return absolute.pop()


def _common_prefix(routes: Sequence[Names]) -> Names:
    prefix: list[Segment] = []
    for names in zip(*(route[:-1] for route in routes), strict=False):
        if len(set(names)) > 1 or not _is_literal(names[0]):
            break
        prefix.append(names[0])
    return tuple(prefix)


def _refuse_ups(text: str, rests: Sequence[Names]) -> None:
    if any(name == (Literal("."), Literal(".")) for rest in rests for name in rest):
        raise InvalidArguments(
            f"the glob {named(text)} goes up by `..` behind a wildcard or at its end, which "
            "matches nothing. Write the path without it."
        )


def _is_literal(name: Segment) -> bool:
    return all(isinstance(token, Literal) for token in name)


def _is_hidden(name: Segment) -> bool:
    return name[0] == Literal(".")


def _literal_path(written: Sequence[Names]) -> str | None:
    if len(written) > 1 or not written[0][-1] or not all(map(_is_literal, written[0])):
        return None
    return "/".join(map(_characters, written[0]))


def _text(names: Names) -> str:
    return "/".join(map(_characters, names))


def _characters(name: Segment) -> str:
    return "".join(token.character for token in name if isinstance(token, Literal))


def _name_glob(name: Segment) -> str:
    """Write a glob that is at least as wide as a name, in what every glob library agrees on."""
    glob = "".join(map(_glob_of, name))
    return re.sub(r"\*+", "*", glob)


def _glob_of(token: Token) -> str:
    # A colon would end the glob where ripgrep defines a type by it.
    if not isinstance(token, Literal) or token.character == ":":
        return "*"
    return f"\\{token.character}" if token.character in _SPECIAL else token.character


def _is_exact(rest: Names) -> bool:
    if rest[0] != BELOW or len(rest) > 2:
        return False
    return rest[-1] == BELOW or (
        not _is_hidden(rest[-1])
        and all(token is Wild.ANY or _is_plain(token) for token in rest[-1])
    )


def _is_plain(token: Token) -> bool:
    return isinstance(token, Literal) and token.character != ":"


def _compiled(rests: Sequence[Names], *, hidden: bool) -> re.Pattern[str]:
    return re.compile("|".join(_path_expression(rest, hidden) for rest in rests))


def _path_expression(rest: Names, hidden: bool) -> str:
    """Write the expression for a path.

    Between two `**` the first place that fits is taken for good, which is as good as any
    later one and keeps the time linear. Not so when a dot is written out in between: what is
    passed over may then be hidden.
    """
    gap = "(?:[^/]+/)" if hidden else r"(?:(?!\.)[^/]+/)"
    first, *others = _runs(rest)
    parts = [_run_expression(first, hidden)] if first else []
    for run in others[:-1]:
        group = "?:" if any(map(_is_hidden, run)) else "?>"
        parts.append(f"({group}{gap}*?{_run_expression(run, hidden)})")
    if others:
        last = others[-1] or ((Wild.ONE, Wild.ANY),)
        parts.append(f"{gap}*{_run_expression(last, hidden)}")
    return "".join(parts).removesuffix("/")


def _runs(rest: Names) -> list[list[Segment]]:
    """Part the names at each `**`."""
    runs: list[list[Segment]] = [[]]
    for name in rest:
        if name == BELOW:
            runs.append([])
        else:
            runs[-1].append(name)
    return runs


def _run_expression(run: Sequence[Segment], hidden: bool) -> str:
    return "".join(f"{_name_expression(name, hidden)}/" for name in run)


def _name_expression(name: Segment, hidden: bool) -> str:
    """Write the expression for one name; as with `**`, what a `*` passes over is final."""
    guard = "" if hidden or isinstance(name[0], Literal) else r"(?!\.)"
    first, *others = _between_stars(name)
    middle = "".join(f"(?>[^/]*?{part})" for part in others[:-1] if part)
    return guard + first + middle + (f"[^/]*{others[-1]}" if others else "")


def _between_stars(name: Segment) -> Iterator[str]:
    part: list[str] = []
    for token in name:
        if token is Wild.ANY:
            yield "".join(part)
            part = []
        else:
            part.append(_expression_of(token))
    yield "".join(part)


def _expression_of(token: Token) -> str:
    match token:
        case Literal(character):
            return re.escape(character)
        case Class(expression, written):
            return f"(?:{expression}|{re.escape(written)})"
        case _:
            return "[^/]"
