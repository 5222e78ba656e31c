"""However a stream is cut, what comes out is what would come of it in one piece (P31)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.wire.masking import Mask

# Few letters, so that secrets overlap themselves, each other, and the cuts.
letters = st.text("ab/ ", min_size=4, max_size=9)
secrets = st.lists(letters, min_size=1, max_size=3)


@st.composite
def cut_streams(draw: st.DrawFn) -> tuple[list[str], list[bytes]]:
    wanted = draw(secrets)
    pieces = draw(st.lists(st.sampled_from([*map(str.encode, wanted), b"a", b"b", b"\xff", b" "])))
    whole = b"".join(pieces)
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)))))
    edges = [0, *cuts, len(whole)]
    return wanted, [whole[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.req("P31", "P14")
@given(cut_streams())
def test_the_cuts_of_a_stream_make_no_difference(given_: tuple[list[str], list[bytes]]) -> None:
    wanted, pieces = given_
    mask = Mask(wanted)
    stream = mask.stream()
    told = b"".join(stream.feed(piece) for piece in pieces)
    assert told + stream.end() == mask.data(b"".join(pieces))


@pytest.mark.req("P31")
@given(secrets, st.text("ab/ x"))
def test_no_secret_is_left_and_nothing_else_is_lost(wanted: list[str], text: str) -> None:
    masked = Mask(wanted).text(text)
    assert not any(secret in part for secret in wanted for part in masked.split("[secret]"))
    if not any(secret in text for secret in wanted):
        assert masked == text


@pytest.mark.req("P31")
@given(secrets, st.binary())
def test_what_is_blotted_keeps_its_length(wanted: list[str], data: bytes) -> None:
    blotted = Mask(wanted).blotted(data + wanted[0].encode())
    assert len(blotted) == len(data) + len(wanted[0])
    assert wanted[0].encode() not in blotted
