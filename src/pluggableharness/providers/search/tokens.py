r"""A glob pattern as tokens: read once, braces multiplied out, everything wrong told (C8).

`*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` (nested too) and `\` before what is to be itself, as in
ripgrep. Knows nothing of paths.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pluggableharness.sdk import InvalidArguments
from pluggableharness.sdk.naming import named

_MOST_ALTERNATIVES: Final = 200
"""What braces may multiply out to."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A character that stands for itself."""

    character: str


class Wild(Enum):
    """What matches more than one thing: the first two within a name."""

    ONE = "?"
    ANY = "*"
    BELOW = "**"


@dataclass(frozen=True, slots=True)
class Class:
    """One character of a set: as a regular expression, and as it was written."""

    expression: str
    written: str


Token = Literal | Wild | Class
Segment = tuple[Token, ...]
"""The tokens of one name of a path."""

Names = tuple[Segment, ...]
"""The names of a path; an absolute one begins with an empty one, one that ends in `/` ends so."""

BELOW: Final[Segment] = (Wild.BELOW,)
"""`**` as a whole name: any number of folders."""

_BEFORE_A_NAME: Final = ("", "/", "{", ",")
_BEHIND_A_NAME: Final = ("", "/", "}", ",")

_SLASH: Final = Literal("/")


def alternatives(pattern: str) -> list[Names]:
    """Read a pattern; braces give several paths.

    Raises InvalidArguments with the place of what cannot be understood.
    """
    paths = _Reader(pattern).read()
    return [_path(tokens) for tokens in paths]


def _path(tokens: Sequence[Token]) -> Names:
    segments: list[Segment] = []
    name: list[Token] = []
    for token in (*tokens, _SLASH):
        if token == _SLASH:
            segments.append(_segment(name))
            name = []
        else:
            name.append(token)
    return tuple(segments)


def _segment(name: Sequence[Token]) -> Segment:
    if len(name) == 1:
        return tuple(name)
    return tuple(Wild.ANY if token is Wild.BELOW else token for token in name)


class _Reader:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def read(self) -> list[list[Token]]:
        found = self._sequence(depth=0)
        if self._at < len(self._pattern):
            raise self._wrong("a } without its {")
        return found

    def _sequence(self, depth: int) -> list[list[Token]]:
        """Read to the end, or to the comma or brace that ends an alternative."""
        found: list[list[Token]] = [[]]
        while self._at < len(self._pattern):
            character = self._pattern[self._at]
            if character == "}" or (character == "," and depth):
                break
            self._at += 1
            parts = self._braces(depth) if character == "{" else [[self._token(character)]]
            found = [[*before, *part] for before in found for part in parts]
            if len(found) > _MOST_ALTERNATIVES:
                raise self._wrong(f"its braces stand for more than {_MOST_ALTERNATIVES} patterns")
        return found

    def _braces(self, depth: int) -> list[list[Token]]:
        start = self._at
        parts = self._sequence(depth + 1)
        while self._pattern[self._at : self._at + 1] == ",":
            self._at += 1
            parts += self._sequence(depth + 1)
        if self._at >= len(self._pattern):
            self._at = start
            raise self._wrong("a { without its }")
        self._at += 1
        return parts

    def _token(self, character: str) -> Token:
        match character:
            case "*":
                return self._star()
            case "?":
                return Wild.ONE
            case "[":
                return self._class()
            case "\\":
                return self._escaped()
            case _:
                return Literal(character)

    def _star(self) -> Token:
        """Read one star, or two that stand where a name would."""
        before, after = self._pattern[: self._at - 1], self._pattern[self._at :]
        stands_alone = before[-1:] in _BEFORE_A_NAME and after[1:2] in _BEHIND_A_NAME
        if after[:1] == "*" and stands_alone:
            self._at += 1
            return Wild.BELOW
        return Wild.ANY

    def _escaped(self) -> Token:
        if self._at >= len(self._pattern):
            raise self._wrong("nothing after the last backslash")
        self._at += 1
        return Literal(self._pattern[self._at - 1])

    def _class(self) -> Class:
        start = self._at
        negated = self._pattern.startswith(("!", "^"), start)
        first = start + negated
        end = self._pattern.find("]", first + 1)
        if end < 0:
            raise self._wrong("a [ without its ]; write \\[ for the character")
        self._at = end + 1
        members = "".join(self._members(self._pattern[first:end]))
        expression = f"(?!/)[{'^' if negated else ''}{members}]"
        return Class(expression, f"[{self._pattern[start : end + 1]}")

    def _members(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            low, dash, high = text[at], text[at + 1 : at + 2], text[at + 2 : at + 3]
            if dash == "-" and high:
                if high < low:
                    raise self._wrong(f"the range {low}-{high} runs backwards")
                yield f"{re.escape(low)}-{re.escape(high)}"
                at += 3
            else:
                yield re.escape(low)
                at += 1

    def _wrong(self, problem: str) -> InvalidArguments:
        return InvalidArguments(
            f"the glob {named(self._pattern)} cannot be read at character {self._at}: {problem}."
        )
