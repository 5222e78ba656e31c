"""Edits against a model that is too simple to be wrong (C4)."""

import re
from collections.abc import Iterator
from itertools import zip_longest

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pluggableharness.providers.filesystem.comparing import changes
from pluggableharness.providers.filesystem.editing import check_texts, edit
from pluggableharness.providers.filesystem.encoding import (
    HEAD,
    LATIN_1,
    UTF_8,
    UTF_16_BE,
    UTF_16_LE,
    Encoding,
    detect,
)
from pluggableharness.providers.filesystem.writing import diff_to
from pluggableharness.sdk import ExecutionFailed, InvalidArguments
from pluggableharness.sdk.render import Diff, Hunk, LineOp

pytestmark = pytest.mark.req("C4")

# Few letters, so that matches, overlaps and line ends come up all the time. Next to each other,
# U+0A41 and U+4100 hold the bytes of a line feed in UTF-16 without being one.
PIECES = st.sampled_from(["a", "b", "\n", "\r\n", "\r", " ", "é", "\u0a41", "\u4100", "$&", "\\1"])
TEXTS = st.lists(PIECES, max_size=12).map("".join)
ENCODINGS = st.sampled_from([UTF_8, UTF_16_LE, UTF_16_BE])


def edited(content: bytes, encoding: Encoding, old: str, new: str, everywhere: bool) -> bytes:
    return b"".join(edit(content, encoding, (old, new), everywhere, "f").pieces)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, TEXTS, ENCODINGS)
def test_replace_all_of_lf_text_is_what_python_replaces(
    around: list[str], old: str, new: str, encoding: Encoding
) -> None:
    old, new = (each.replace("\r", "") for each in (old, new))
    assume(old and old != new)
    text = old.join(around).replace("\r", "")
    content = encoding.mark + encoding.encode(text)
    if old not in text:
        with pytest.raises(ExecutionFailed, match="old_str is not in"):
            edited(content, encoding, old, new, True)
    else:
        expected = encoding.mark + encoding.encode(text.replace(old, new))
        assert edited(content, encoding, old, new, True) == expected


@given(st.lists(TEXTS, min_size=2, max_size=4), TEXTS, TEXTS, ENCODINGS)
def test_replace_all_of_crlf_text_is_what_python_replaces_in_lf(
    around: list[str], old: str, new: str, encoding: Encoding
) -> None:
    old, new = (each.replace("\r", "") for each in (old, new))
    assume(old and old != new)
    text = old.join(around).replace("\r", "") + "\n"
    content = encoding.mark + encoding.encode(text.replace("\n", "\r\n"))
    expected = encoding.mark + encoding.encode(text.replace(old, new).replace("\n", "\r\n"))
    assert edited(content, encoding, old, new, True) == expected


@given(TEXTS, TEXTS, TEXTS, ENCODINGS)
def test_one_replacement_keeps_every_byte_around_it(
    before: str, after: str, new: str, encoding: Encoding
) -> None:
    old = "<once\nonly>"
    assume("\r\r\n" not in new)  # folding it once leaves what looks like a line end again
    for end in ("\n", "\r\n"):
        head = encoding.mark + encoding.encode(before)
        tail = encoding.encode(after)
        content = head + encoding.encode(old.replace("\n", end)) + tail
        result = edited(content, encoding, old, new, False)
        assert result.startswith(head)
        assert result.endswith(tail)
        inside = encoding.decode(result[len(head) : len(result) - len(tail)])
        assert inside.replace("\r\n", "\n") == new.replace("\r\n", "\n")


@given(TEXTS, TEXTS)
def test_an_edit_without_replace_all_wants_one_place(text: str, old: str) -> None:
    text, old = text.replace("\r", ""), old.replace("\r", "")
    assume(old)
    places = sum(text.startswith(old, at) for at in range(len(text)))
    try:
        edited(text.encode(), UTF_8, old, old + "!", False)
    except ExecutionFailed as failure:
        counted = (failure.details or {}).get("count", 0)
    else:
        counted = 1
    assert counted == places


@given(st.binary(max_size=40), TEXTS, TEXTS)
def test_bytes_of_any_sort_are_edited_or_refused_and_never_spoiled(
    content: bytes, old: str, new: str
) -> None:
    encoding = detect(content[:HEAD], whole=True)
    assume(isinstance(encoding, Encoding))
    assert isinstance(encoding, Encoding)
    try:
        check_texts(old, new)
        result = edited(content, encoding, old, new, True)
    except (InvalidArguments, ExecutionFailed):
        return
    # Whatever was not matched is still there, in order.
    rest = iter(result)
    kept = content
    for form in (old, old.replace("\r\n", "\n"), old.replace("\r\n", "\n").replace("\n", "\r\n")):
        for name in (encoding, LATIN_1):
            try:
                kept = kept.replace(name.encode(form), b"")
            except UnicodeEncodeError:
                continue
    assert all(byte in rest for byte in kept)


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"{\n", b"}\n"]), max_size=30)


@given(LINES, LINES)
def test_changes_turn_one_text_into_the_other(old: list[bytes], new: list[bytes]) -> None:
    made: list[bytes] = []
    at = 0
    for a, b, c, d in changes(old, new):
        assert a >= at
        assert (a, c) != (b, d)
        made += old[at:a] + new[c:d]
        at = b
    assert made + old[at:] == new


def patched(old: str, diff: Diff) -> str:
    """Apply hunks as `patch` does, checking every line that they claim to know."""
    before = re.findall(r"[^\n]*\n|[^\n]+", old)
    after: list[str] = []
    at = 0
    for hunk in diff.hunks:
        start = hunk.old_start - (hunk.old_lines > 0)
        after += before[at:start]
        at = start
        assert len(after) == hunk.new_start - (hunk.new_lines > 0)
        for op, text in _lines(hunk):
            if op is not LineOp.ADD:
                assert before[at] == text
                at += 1
            if op is not LineOp.REMOVE:
                after.append(text)
    return "".join(after + before[at:])


def _lines(hunk: Hunk) -> Iterator[tuple[LineOp, str]]:
    """The lines of a hunk with their line ends, which a mark behind one takes away."""
    for line, behind in zip_longest(hunk.lines, hunk.lines[1:]):
        marked = behind is not None and behind.text.startswith("\\ No newline")
        if not line.text.startswith("\\ No newline"):
            yield line.op, line.text + ("" if marked else "\n")


@pytest.mark.req("C6")
@given(LINES, LINES)
def test_a_diff_can_be_applied(old: list[bytes], new: list[bytes]) -> None:
    before, after = b"".join(old), b"".join(new)
    diff = diff_to(before, after, 1_000)
    assert patched(before.decode(), diff) == after.decode()
    assert bool(diff.hunks) == (before != after)


@pytest.mark.req("C6")
@given(st.lists(st.sampled_from(["x", "a", "b", "\n"]), max_size=60).map("".join), TEXTS)
def test_the_diff_of_an_edit_can_be_applied(text: str, new: str) -> None:
    new = new.replace("\r", "")
    assume("x" in text and new != "x")
    made = edit(text.encode(), UTF_8, ("x", new), True, "f")
    assert patched(text, made.diff(1_000)) == text.replace("x", new)
