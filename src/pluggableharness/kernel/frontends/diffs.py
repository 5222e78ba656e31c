"""Diffs made ready to draw: numbered rows, and the part of a line that changed. No drawing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from pluggableharness.kernel.domain.render import DiffHunk, DiffLine, DiffNode, DiffOp

_MOST_CHANGED = 0.7
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OPS = {" ": DiffOp.CONTEXT, "": DiffOp.CONTEXT, "+": DiffOp.ADD, "-": DiffOp.REMOVE}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a diff with its number: in the old text for a removed line, else in the new."""

    number: int
    op: DiffOp
    text: str


def rows(node: DiffNode) -> list[Row | None]:
    """The diff's lines from top to bottom; None stands between two hunks."""
    found: list[Row | None] = []
    for hunk in node.hunks:
        if found:
            found.append(None)
        found += _rows_of(hunk)
    return found


def _rows_of(hunk: DiffHunk) -> list[Row]:
    old, new = hunk.old_start, hunk.new_start
    found: list[Row] = []
    for line in hunk.lines:
        found.append(Row(old if line.op is DiffOp.REMOVE else new, line.op, line.text))
        old += line.op is not DiffOp.ADD
        new += line.op is not DiffOp.REMOVE
    return found


def pairs(found: Sequence[Row | None]) -> list[tuple[int, int]]:
    """Positions of removed and added rows that replace each other, one for one."""
    paired: list[tuple[int, int]] = []
    runs: list[tuple[DiffOp | None, list[int]]] = [
        (op, [position for position, _ in run])
        for op, run in groupby(enumerate(found), lambda entry: entry[1] and entry[1].op)
    ]
    for (op, old), (next_op, new) in pairwise(runs):
        if op is DiffOp.REMOVE and next_op is DiffOp.ADD and len(old) == len(new):
            paired += zip(old, new, strict=True)
    return paired


def changed_part(old: str, new: str) -> tuple[int, int] | None:
    """How many first and last characters two lines share; None when they share too little."""
    shortest = min(len(old), len(new))
    start = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    rest = shortest - start
    end = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    longest = max(len(old), len(new))
    return (start, end) if longest - start - end <= _MOST_CHANGED * longest else None


def parse_unified(text: str) -> DiffNode | None:
    """A unified diff as a node, None when the text is not one.

    What stands before the first hunk is left out: whoever shows the diff names the file.
    """
    hunks: list[tuple[tuple[int, int, int, int], list[DiffLine]]] = []
    for line in text.removesuffix("\n").split("\n"):
        header = _HUNK.match(line)
        if header:
            numbers = [int(number or 1) for number in header.groups()]
            hunks.append(((numbers[0], numbers[1], numbers[2], numbers[3]), []))
        elif hunks and line.startswith("\\"):
            hunks[-1][1].append(DiffLine(DiffOp.CONTEXT, line))
        elif hunks and line[:1] in _OPS:
            hunks[-1][1].append(DiffLine(_OPS[line[:1]], line[1:]))
        elif hunks:
            return None
    if not hunks:
        return None
    return DiffNode(tuple(DiffHunk(*numbers, tuple(lines)) for numbers, lines in hunks))
