"""The unified diff of a change whose places are known, without comparing the whole file (C3, C4).

A change is given as stretches of bytes and what takes their place. Only the lines around them
are looked at, so that one word in a file of megabytes costs its own lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from pluggableharness.providers.filesystem.comparing import Span, changes
from pluggableharness.providers.filesystem.encoding import Encoding
from pluggableharness.sdk.naming import bounded
from pluggableharness.sdk.render import Diff, DiffLine, Hunk, LineOp

_CONTEXT: Final = 3
_LINE_SHOWN: Final = 400
_NO_NEWLINE: Final = "\\ No newline at end of file"
_CARRIAGE_RETURN: Final = "\N{SYMBOL FOR CARRIAGE RETURN}"


class Change(Struct, frozen=True):
    """Bytes `start` to `end` of the old content that become `new`."""

    start: int
    end: int
    new: bytes


class _Stretch(Struct, frozen=True):
    """Whole lines of the old content with all changes in them made."""

    start: int
    end: int
    new: bytes


def difference(old: bytes, new: bytes) -> list[Change]:
    """Find the one stretch outside which two contents are the same; nothing when they are."""
    if old == new:
        return []
    shorter = min(len(old), len(new))
    start = _common(old, new, shorter)
    behind = _common(old[start:][::-1], new[start:][::-1], shorter - start)
    return [Change(start, len(old) - behind, new[start : len(new) - behind])]


def _common(one: bytes, other: bytes, limit: int) -> int:
    """Count the bytes at the start that are the same, by halving: comparing is the C part."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def diff_of(
    old: bytes, made: Iterable[Change], encoding: Encoding, limit: int, until: int | None = None
) -> Diff:
    """Show changes, given in order, as hunks of about `limit` lines together.

    `until` says that there are more changes from that offset on. What is not shown is said.
    """
    hunks: list[Hunk] = []
    counted, line, shift, lines = 0, 1, 0, 0
    for stretch in _stretches(old, made, encoding, len(old) if until is None else until):
        line += encoding.count_newlines(old, counted, stretch.start)
        counted = stretch.start
        before = _split(old[stretch.start : stretch.end], encoding)
        after = _split(stretch.new, encoding)
        for hunk in _hunks(before, after, (line, line + shift), encoding):
            if lines < limit:
                hunks.append(_cut(hunk, limit - lines))
            lines += len(hunk.lines)
        shift += len(after) - len(before)
        if lines >= limit:
            until = stretch.end
            break
    if until is not None and until < len(old):
        hunks.append(Hunk(line, 0, line + shift, 0, [_remark("the rest is not shown")]))
    return Diff(hunks)


def text_of(diff: Diff, old_name: str, new_name: str) -> str:
    """Write a diff as `diff -u` does; empty when nothing differs."""
    text = diff.unified(old_name, new_name)
    return text.replace(f"\n {_NO_NEWLINE}", f"\n{_NO_NEWLINE}")


def remark(text: str) -> Diff:
    """Say something in the place of lines."""
    return Diff([Hunk(0, 0, 0, 0, [_remark(text)])])


def _remark(text: str) -> DiffLine:
    return DiffLine(LineOp.CONTEXT, f"… {text}")


def _stretches(
    old: bytes, made: Iterable[Change], encoding: Encoding, until: int
) -> Iterator[_Stretch]:
    """Widen changes to whole lines with context, joining those that meet."""
    start = end = -1
    done: list[bytes] = []
    at = 0
    for change in made:
        reach = _lines_back(old, change.start, encoding)
        if start >= 0 and reach > end:
            yield _Stretch(start, end, b"".join((*done, old[at:end])))
            start = -1
        if start < 0:
            start, done, at = reach, [], reach
        done += [old[at : change.start], change.new]
        at = change.end
        end = max(end, min(_lines_on(old, change.end, encoding), until))
    if start >= 0:
        yield _Stretch(start, end, b"".join((*done, old[at:end])))


def _lines_back(old: bytes, at: int, encoding: Encoding) -> int:
    for _ in range(_CONTEXT + 1):
        found = encoding.rfind_newline(old, 0, at)
        if found < 0:
            return len(encoding.mark)
        at = found
    return at + encoding.unit


def _lines_on(old: bytes, at: int, encoding: Encoding) -> int:
    for _ in range(_CONTEXT + 1):
        found = encoding.find_newline(old, at, len(old))
        if found < 0:
            return len(old)
        at = found + encoding.unit
    return at


def _split(content: bytes, encoding: Encoding) -> list[bytes]:
    """Take lines apart, each with its line feed."""
    feed = encoding.newline
    lines: list[bytes] = []
    at = 0
    while (end := encoding.find_newline(content, at, len(content))) >= 0:
        lines.append(content[at : end + len(feed)])
        at = end + len(feed)
    return [*lines, content[at:]] if at < len(content) else lines


def _hunks(
    before: Sequence[bytes], after: Sequence[bytes], numbers: tuple[int, int], encoding: Encoding
) -> Iterator[Hunk]:
    show = _Display(encoding, _all_paired(before, encoding) and _all_paired(after, encoding))
    for group in _grouped(changes(before, after)):
        first, last = group[0], group[-1]
        lead = min(_CONTEXT, first[0], first[2])
        trail = min(_CONTEXT, len(before) - last[1])
        a, b, c, d = first[0] - lead, last[1] + trail, first[2] - lead, last[3] + trail
        lines: list[DiffLine] = []
        at = a
        for i, j, k, m in group:
            lines += show.lines(LineOp.CONTEXT, before[at:i])
            lines += show.lines(LineOp.REMOVE, before[i:j])
            lines += show.lines(LineOp.ADD, after[k:m])
            at = j
        lines += show.lines(LineOp.CONTEXT, before[at:b])
        # `diff -u` numbers an empty side by the line before it.
        yield Hunk(numbers[0] + a - (b == a), b - a, numbers[1] + c - (d == c), d - c, lines)


def _grouped(spans: Iterable[Span]) -> Iterator[list[Span]]:
    group: list[Span] = []
    for span in spans:
        if group and span[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _cut(hunk: Hunk, limit: int) -> Hunk:
    if len(hunk.lines) <= limit:
        return hunk
    lines = [*hunk.lines[:limit], _remark(f"{len(hunk.lines) - limit} more lines")]
    return Hunk(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines, lines)


def _all_paired(lines: Iterable[bytes], encoding: Encoding) -> bool:
    feed, pair = encoding.newline, encoding.encode("\r\n")
    return all(line.endswith(pair) or not line.endswith(feed) for line in lines)


class _Display(Struct, frozen=True):
    """How lines are shown: a CR before the line feed is a sign where it is not everywhere."""

    encoding: Encoding
    paired: bool

    def lines(self, op: LineOp, lines: Iterable[bytes]) -> Iterator[DiffLine]:
        for line in lines:
            text = self.encoding.decode(line)
            body = text.removesuffix("\n")
            yield DiffLine(op, self._body(body))
            if body == text:
                yield DiffLine(LineOp.CONTEXT, _NO_NEWLINE)

    def _body(self, text: str) -> str:
        if text.endswith("\r"):
            text = text[:-1] + ("" if self.paired else _CARRIAGE_RETURN)
        return bounded(text, _LINE_SHOWN)
