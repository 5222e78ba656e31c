"""The parts of a search that a whole one shows only by chance."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.providers.search.globbing import Smallest
from pluggableharness.providers.search.messages import (
    Messages,
    bytes_of,
    line_of,
    numbers_of,
    parted,
)


@pytest.mark.req("C8")
@given(st.lists(st.lists(st.text(max_size=3))), st.integers(1, 20))
def test_the_smallest_of_all_are_kept_whatever_comes_together(
    chunks: list[list[str]], limit: int
) -> None:
    smallest = Smallest(limit)
    for chunk in chunks:
        smallest.add(chunk)
    everything = sorted(key for chunk in chunks for key in chunk)
    assert smallest.kept == everything[:limit]
    assert smallest.total == len(everything)


@pytest.mark.req("C9")
@pytest.mark.parametrize(("number", "text", "start"), [(1, b"needle", 0), (2, b"\xef\xbb\xbf", 3)])
def test_a_mark_is_no_text_in_the_first_line_alone(number: int, text: bytes, start: int) -> None:
    """Case search-11: an older ripgrep leaves it there."""
    line = line_of(
        b'{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"\xef\xbb\xbfneedle"},'
        b'"line_number":%d,"absolute_offset":0,"submatches":[{"match":{"text":"needle"},'
        b'"start":3,"end":9}]}}' % number
    )
    assert line is not None
    raw, at = bytes_of(line)
    assert raw.startswith(text)
    assert at == start


@pytest.mark.req("C9")
def test_a_match_of_bytes_that_are_no_utf8_is_a_match_like_any() -> None:
    """Case search-09: ripgrep gives it as bytes too, of which only the place counts."""
    line = line_of(
        b'{"type":"match","data":{"path":{"text":"a"},"lines":{"bytes":"Y2Fm6SBuZWVkbGUK"},'
        b'"line_number":1,"absolute_offset":0,"submatches":[{"match":{"bytes":"6Q=="},'
        b'"start":3,"end":4}]}}'
    )
    assert line is not None
    assert bytes_of(line) == (b"caf\xe9 needle\n", 3)


MESSAGES = (
    b'{"type":"begin","data":{"path":{"text":"{\\"type\\":\\"begin\\""}}}\n'
    b'{"type":"match","data":{"lines":{"text":"{\\"type\\":\\"match\\"\\n"}}}\n'
    b'{"type":"context","data":{}}\n'
    b'{"type":"match","data":{}}\n'
    b'{"type":"end","data":{"binary_offset":null,"stats":{}}}\n'
)


@pytest.mark.req("C9")
@given(st.lists(st.integers(0, len(MESSAGES) * 4)), st.booleans())
def test_messages_are_told_apart_wherever_they_are_cut(cuts: list[int], is_open: bool) -> None:
    stream = MESSAGES * 4
    places = [0, *sorted(cuts), len(stream)]
    messages = Messages()
    told = b"".join(messages.feed(stream[start:end]) for start, end in pairwise(places))
    assert told == stream
    rest, files, text = parted(stream, is_open)
    assert rest + files + text == stream
    assert numbers_of(files) == ((6, 3) if is_open else (8, 4))


@pytest.mark.req("C9")
def test_files_with_binary_data_are_not_counted_unread() -> None:
    assert numbers_of(MESSAGES) == (2, 1)
    assert numbers_of(MESSAGES + MESSAGES.replace(b":null,", b":400007,")) is None


@pytest.mark.req("C9")
def test_files_that_are_not_whole_are_left_to_be_read() -> None:
    begin, match = MESSAGES.splitlines(keepends=True)[:2]
    assert parted(begin + match, is_open=False) == (b"", b"", begin + match)
    assert parted(match + match, is_open=True) == (b"", b"", match + match)
    assert parted(b"", is_open=True) == (b"", b"", b"")
