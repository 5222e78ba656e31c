"""Versions and what is asked of them: `>= 1.2, < 2`, `~> 1.4`, `1.0.3` (F3)."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

from pluggableharness.kernel.domain.quoting import in_quotes

_CONSTRAINT = re.compile(r"\s*(~>|>=|<=|!=|=|>|<)?\s*(\d+(?:\.\d+)*)\s*")
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)(.*)")

Key = tuple[tuple[int, ...], bool]

_COMPARISONS: Final[Mapping[str, Callable[[Key, Key], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def constraint_problem(constraint: str) -> str:
    """What is wrong with a constraint; "" when nothing is."""
    for part in constraint.split(","):
        if not _CONSTRAINT.fullmatch(part):
            return f"{in_quotes(part.strip())} is no comparison with a version"
    return ""


def satisfies(version: str, constraint: str) -> bool:
    """Whether a version is what is asked; one that cannot be read satisfies only no constraint."""
    if not constraint:
        return True
    key = _key(version)
    return key is not None and all(_holds(key, part) for part in constraint.split(","))


def _holds(key: Key, part: str) -> bool:
    found = _CONSTRAINT.fullmatch(part)
    wanted = _key(found.group(2)) if found else None
    if found is None or wanted is None:
        return False
    if found.group(1) != "~>":
        return _COMPARISONS[found.group(1) or "="](key, wanted)
    given = tuple(int(number) for number in found.group(2).split("."))
    fixed = len(given) - 1 or 1
    return key >= wanted and key[0][:fixed] == wanted[0][:fixed]


def _key(version: str) -> Key | None:
    """Sorts versions; one with anything after its numbers comes before the one without."""
    found = _NUMBERS.fullmatch(version)
    if found is None:
        return None
    numbers = tuple(int(number) for number in found.group(1).split("."))
    return numbers + (0,) * (8 - len(numbers)), not found.group(2)
