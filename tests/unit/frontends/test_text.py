"""Text safety: what is shown for approval is exact, and nothing raw reaches a terminal."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pluggableharness.kernel.frontends.text import (
    LiveLines,
    LiveText,
    clipped,
    clipped_line,
    escaped,
    live,
    shown,
)

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x1b\x9b\x07\x08\r\n\t\x00\x7f[]mK0;\\\"'nx u\u202e\u200b\u0301\ufe0f\ud800"
        ),
    )
)


def invisible(text: str, allowed: str = "") -> list[str]:
    """The characters that a terminal would act on or not draw."""
    return [c for c in text if c not in allowed and not c.isprintable()]


def read_back(text: str) -> str:
    """What a careful reader makes of a shown text."""
    if not text.startswith('"'):
        return text
    simple = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}

    def meant(match: re.Match[str]) -> str:
        code = match[1]
        return simple[code] if code in simple else chr(int(code[1:], 16))

    return re.sub(r'\\(x..|u.{4}|U.{8}|[nrt"\\])', meant, text[1:-1])


@pytest.mark.req("K32")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rm -rf ~ \r\x1b[2K   command: ls -la", r'"rm -rf ~ \r\x1b[2K   command: ls -la"'),
        ("ls \u202egnp.exe", r'"ls \u202egnp.exe"'),
        ("ls\u200b", r'"ls\u200b"'),
        ("a path\nwith a line feed", r'"a path\nwith a line feed"'),
        ("\ufeffx\u00ad\u2066\U000e0041", r'"\ufeffx\xad\u2066\U000e0041"'),
        ("a\u3164b\ufe0fc", r'"a\u3164b\ufe0fc"'),
        ("", '""'),
        (" x", '" x"'),
        ('"x"', r'"\"x\""'),
        (r"sed 's/\n/\x1b/'", r"sed 's/\n/\x1b/'"),
        ("naïve 日本語", "naïve 日本語"),
    ],
)
def test_what_is_approved_shows_every_character(text: str, expected: str) -> None:
    """Case policy-and-schema-13."""
    assert shown(text) == expected


@pytest.mark.req("K32")
@settings(deadline=None)
@given(HOSTILE)
def test_a_shown_text_prints_and_can_be_read_in_one_way_only(text: str) -> None:
    written = shown(text)
    assert invisible(written) == []
    assert read_back(written) == text


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "M", "Z", "C"])))
def test_a_mark_never_stands_alone_and_never_in_heaps(text: str) -> None:
    marks = 9
    for place, character in enumerate(shown(text)):
        is_mark = unicodedata.category(character) in ("Mn", "Me")
        marks = marks + 1 if is_mark else 0
        assert marks < 3 or not is_mark
        if character == " " or (place, character) == (0, '"'):
            marks = 9  # what stands next would sit on nothing


@settings(deadline=None)
@given(HOSTILE)
def test_an_encoding_that_lacks_a_character_gets_its_escape(text: str) -> None:
    assert shown(text, "ascii").isascii()
    assert live(text, "ascii").isascii()


def test_a_text_that_prints_needs_no_escapes() -> None:
    assert escaped("plain \\n text") is None


@pytest.mark.req("K32")
def test_live_output_keeps_words_and_loses_commands_to_the_terminal() -> None:
    """Case exec-16."""
    raw = "\x1b[31mred\x1b[0m\n10%\r20%\r100%\n\x1b]0;title\x07\x1b[2J"
    assert live(raw) == "red\n100%\n"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("working |\x08/\x08-\x08done", "working done"),
        ("a\x1bP1;2|q\x1b\\b", "ab"),
        ("a\x9b31mb", "ab"),
        ("\x1b(Btext\x1b=\x1bM", "text"),
        ("bell\x07 nul\x00", "bell nul"),
        ("\u202eabc", "\\u202eabc"),
        ("cut off \x1b[3", "cut off \\x1b[3"),
        ("\x1b]0;never ended\nnext", "\\x1b]0;never ended\nnext"),
        ("a\u00a0b\u200bc", "a bc"),
        ("tab\tkept", "tab\tkept"),
    ],
)
def test_live_text(raw: str, expected: str) -> None:
    assert live(raw) == expected


@pytest.mark.req("K32")
@settings(deadline=None)
@given(HOSTILE)
def test_nothing_raw_is_left_in_live_text(text: str) -> None:
    assert invisible(live(text), "\n\t") == []


@pytest.mark.req("K32")
@settings(deadline=None)
@given(st.lists(HOSTILE, max_size=6))
def test_nothing_raw_is_left_however_the_stream_is_cut(pieces: list[str]) -> None:
    stream = LiveText()
    out = "".join(stream.feed(piece) for piece in pieces) + stream.finish()
    assert invisible(out, "\n\t\r") == []


@settings(deadline=None)
@given(st.text("ab\x1b[3m]0;\x07\n\r"), st.data())
def test_a_sequence_is_taken_out_wherever_it_is_cut(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    whole, halves = LiveText(), LiveText()
    assert (
        halves.feed(text[:cut]) + halves.feed(text[cut:]) + halves.finish()
        == whole.feed(text) + whole.finish()
    )


def test_a_progress_bar_leaves_its_last_state() -> None:
    lines = LiveLines()
    assert lines.feed("10%\r20%") == []
    assert lines.open_line == "20%"
    assert lines.feed("\r") == []
    assert lines.open_line == "20%"
    assert lines.feed("100%") == []
    assert lines.open_line == "100%"
    assert lines.feed("\nnext") == ["100%"]
    assert lines.finish() == ["next"]


def test_a_line_without_end_takes_bounded_memory() -> None:
    lines = LiveLines()
    finished = [line for _ in range(100) for line in lines.feed("x" * 1000)]
    finished += lines.finish()
    assert sum(map(len, finished)) == 100_000
    assert max(map(len, finished)) <= 5096


def test_a_bar_that_never_ends_its_line_takes_bounded_memory() -> None:
    lines = LiveLines()
    for state in range(10_000):
        assert lines.feed(f"\rstate {state}") == []
    assert lines.finish() == ["state 9999"]


def test_an_unfinished_title_does_not_swallow_the_rest() -> None:
    stream = LiveText()
    out = "".join(stream.feed(piece) for piece in ["\x1b]0;", "x" * 2000, "visible"])
    assert out.endswith("visible")


def test_clipping_hides_the_middle_and_accounts_for_all() -> None:
    lines = [str(number) for number in range(100)]
    head, hidden, tail = clipped(lines, 3, 2)
    assert (*head, *hidden, *tail) == tuple(lines)
    assert (len(head), len(tail)) == (3, 2)
    assert clipped(lines[:6], 3, 2) == (lines[:6], (), ())


@settings(deadline=None)
@given(st.text(max_size=300))
def test_a_long_line_says_how_much_it_hides(line: str) -> None:
    head, hidden, tail = clipped_line(line, 50, 20)
    assert len(head) + hidden + len(tail) == len(line)
    assert line.startswith(head)
    assert line.endswith(tail)
