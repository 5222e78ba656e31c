"""Which of some names somebody probably meant."""

from collections.abc import Collection, Iterable

_COMPARED = 64
"""Characters of a name that count: the longest that an operation may have (P1)."""
_FEW = 12
"""Names that a message lists at most."""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to `word`, the first of equals; None when there is none."""
    return min(candidates, key=lambda name: _distance(word, name), default=None)


def did_you_mean(word: str, candidates: Collection[str], of: str = "") -> str:
    """How a message about a name that does not exist ends, behind what it is a part `of`.

    With the nearest that does, where that may be meant; else with all, where these are few.
    """
    near = close(word, candidates, wrong=1 / 2)
    if near is not None:
        return f"; did you mean {of}{near}?"
    few = 0 < len(candidates) <= _FEW
    return f"; there are: {', '.join(of + name for name in candidates)}" if few else ""


def close(word: str, candidates: Iterable[str], *, wrong: float = 1 / 3) -> str | None:
    """The nearest candidate, if `word` may be a slip for it: no more than that part is wrong."""
    near = nearest(word, candidates)
    return near if near is not None and _distance(word, near) <= len(word) * wrong else None


def nearest_first(word: str, candidates: Iterable[str]) -> list[str]:
    """All candidates, the closest to `word` first, equals in the order given (K3)."""
    return sorted(candidates, key=lambda name: _distance(word, name))


def _distance(word: str, name: str) -> float:
    """Edits between the two, without case; a name that holds the other is nearly there.

    `read` and `read_file` are ten insertions apart in the worst spelling of that idea, yet
    nobody would call `grep` closer; hence half price for what one has beyond the other.
    """
    left, right = word[:_COMPARED].casefold(), name[:_COMPARED].casefold()
    if left in right or right in left:
        return abs(len(left) - len(right)) / 4
    return _edits(left, right)


def _edits(left: str, right: str) -> int:
    """Levenshtein's distance. difflib has no such thing and takes 20 ms to import."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]
