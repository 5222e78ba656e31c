"""Bytes become what a model reads: whole characters, marks for the broken, no escapes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.providers.exec.text import decode, readable, size_of, without_torn_start
from pluggableharness.sdk.processes import Stream

STREAMS = st.sampled_from(["stdout", "stderr"])


def shown(data: bytes) -> str:
    return readable(decode([("stdout", data)], ends=True))


@pytest.mark.req("C10")
@given(st.text(), st.lists(st.integers(0, 200)))
def test_characters_cut_anywhere_arrive_whole(text: str, cuts: list[int]) -> None:
    """Case exec-06: a character that comes in several reads."""
    data = text.encode()
    at = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces: list[tuple[Stream, bytes]] = [
        ("stdout", data[start:end]) for start, end in pairwise(at)
    ]
    assert decode(pieces, ends=True) == text


@pytest.mark.req("C10")
def test_each_stream_has_a_decoder_of_its_own() -> None:
    pieces: list[tuple[Stream, bytes]] = [
        ("stdout", b"\xe2\x89"),
        ("stderr", b"E\xc3"),
        ("stdout", b"\xa4"),
        ("stderr", b"\xbc"),
    ]
    assert decode(pieces, ends=True) == "E\u2264ü"


@pytest.mark.req("C10")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"abc\xe2\x89", "abc\ufffd\ufffd"),
        (b"\xff\xfe\n", "\ufffd\ufffd\n"),
        (b"a\xc3(b", "a\ufffd(b"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    ],
)
def test_bytes_that_are_no_text_are_marked_one_by_one(data: bytes, text: str) -> None:
    """Case exec-07: nothing is dropped without a sign."""
    assert shown(data) == text


@given(st.lists(st.tuples(STREAMS, st.binary())))
def test_a_decoded_text_knows_how_many_bytes_it_was(pieces: list[tuple[Stream, bytes]]) -> None:
    assert size_of(decode(pieces, ends=True)) == sum(len(data) for _, data in pieces)


@given(st.binary())
def test_any_bytes_become_text_that_can_be_encoded(data: bytes) -> None:
    text = shown(data)
    assert text.encode().decode() == text
    assert not {c for c in text if ord(c) < 32 and c not in "\n\t"}


@pytest.mark.req("C10")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[31mred\x1b[0m\n10%\r20%\r100%\n\x1b]0;title\x07\x1b[2J", "red\n100%\n"),
        (b"line\r\nline\r\n", "line\nline\n"),
        (b"line\r\r\nnext", "line\nnext"),
        (b"50%\r", "50%"),
        (b"\r\r\n", "\n"),
        (b"\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;never ended\nnext", "\nnext"),
        (b"\x1b(Btext\x1b=\x1bM", "text"),
        (b"cut off\x1b[3", "cut off"),
        (b"\xc2\x9b31mred", "red"),
        (b"b\x08bo\x08old __\x08\x08NAME", "bold NAME"),
        (b"a\x00b\x07c\x7fd\te", "abcd\te"),
        (b"page\x0cpage\x0bx", "page\npage\nx"),
    ],
)
def test_what_only_a_terminal_understands_is_left_out(data: bytes, text: str) -> None:
    """Case exec-16: colours, titles, cursor moves, progress that overwrites itself."""
    assert shown(data) == text


@pytest.mark.parametrize("unit", [b"\r", b"x\r", b"\x08", b"x\x08", b"\x1b[", b"\x1b]", b"x"])
def test_long_lines_of_controls_take_no_time_to_speak_of(unit: bytes) -> None:
    """A quadratic step would need hours for this."""
    assert len(shown(unit * 300_000)) <= 300_000


@pytest.mark.parametrize(
    ("start", "rest"),
    [("\udc89\udca4text", "text"), ("text", "text"), ("\udcfftext", "\udcfftext"), ("", "")],
)
def test_the_end_of_a_character_that_began_before_is_no_text(start: str, rest: str) -> None:
    assert without_torn_start(start) == rest
