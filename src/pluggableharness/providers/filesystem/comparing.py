"""Which lines of two texts are the same, in time that does not explode (pure).

Lines that stand once in both texts anchor the comparison (patience diff); only the short gaps
between anchors are compared in full. Two large texts with nothing to hold on to are told apart
as a whole rather than searched for hours.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

_GAP: Final = 250
"""Lines on each side of a gap that is compared in full, which costs their product."""

Lines = Sequence[bytes]
Span = tuple[int, int, int, int]
"""Lines that were replaced: from and to in the old text, from and to in the new one."""


def changes(old: Lines, new: Lines) -> list[Span]:
    """List what was replaced by what, in order; the lines between are the same in both."""
    spans: list[Span] = []
    for span in _between(old, new, (0, len(old), 0, len(new)), anchored=True):
        if spans and spans[-1][1] == span[0] and spans[-1][3] == span[2]:
            spans[-1] = (spans[-1][0], span[1], spans[-1][2], span[3])
        else:
            spans.append(span)
    return spans


def _between(old: Lines, new: Lines, within: Span, *, anchored: bool) -> Iterator[Span]:
    a, b, c, d = _trimmed(old, new, within)
    if a == b and c == d:
        return
    if a == b or c == d:
        yield a, b, c, d
        return
    pairs = _anchors(old, new, (a, b, c, d)) if anchored else []
    if not pairs:
        yield from _in_full(old, new, (a, b, c, d))
        return
    for i, j in [*pairs, (b, d)]:
        yield from _between(old, new, (a, i, c, j), anchored=False)
        a, c = i + 1, j + 1


def _trimmed(old: Lines, new: Lines, within: Span) -> Span:
    a, b, c, d = within
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return a, b, c, d


def _anchors(old: Lines, new: Lines, within: Span) -> list[tuple[int, int]]:
    """Pair up the lines that stand once on each side, as many as keep their order."""
    a, b, c, d = within
    here, there = Counter(old[a:b]), Counter(new[c:d])
    where = {line: at for at, line in enumerate(new[c:d], c) if there[line] == 1}
    pairs = [
        (at, where[line])
        for at, line in enumerate(old[a:b], a)
        if here[line] == 1 and line in where
    ]
    return _longest_rise(pairs)


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Choose the longest subsequence in which the second numbers rise (patience sorting)."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (_, second) in enumerate(pairs):
        pile = bisect_left(tops, second)
        before.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [second]
        ends[pile : pile + 1] = [at]
    chosen: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _in_full(old: Lines, new: Lines, within: Span) -> Iterator[Span]:
    a, b, c, d = within
    if b - a > _GAP or d - c > _GAP:
        yield within
        return
    # 2 ms to import, and most calls compare nothing.
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield a + i, a + j, c + k, c + m
