"""Lines of a file against a split of all of it (C2)."""

import os
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.providers.filesystem import lines as line_reading
from pluggableharness.providers.filesystem.encoding import (
    LATIN_1,
    UTF_8,
    UTF_8_MARKED,
    UTF_16_BE,
    UTF_16_LE,
    Encoding,
)
from pluggableharness.providers.filesystem.lines import index, read_lines, start_of
from pluggableharness.providers.filesystem.offloop import never

pytestmark = pytest.mark.req("C2")

PIECES = st.sampled_from(
    ["a", "long" * 20, "\n", "\r\n", "\r", "\u2028", "é", "\U0001f600", "\u0a41", "\u4100"]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)
ENCODINGS = st.sampled_from([UTF_8, UTF_8_MARKED, UTF_16_LE, UTF_16_BE])


@pytest.fixture(autouse=True, scope="module")
def small_limits() -> object:
    """Chunks and lines so small that their edges fall everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_reading, "CHUNK", 16)
        patch.setattr(line_reading, "BLOCK", 14)
        patch.setattr(line_reading, "STEPPED", 8)
        patch.setattr(line_reading, "LINE_LIMIT", 10)
        yield


@given(TEXTS, ENCODINGS, st.data())
def test_every_line_is_found_where_it_is(
    text: str, encoding: Encoding, data: st.DataObject
) -> None:
    expected = text.split("\n")
    unended = expected.pop()
    expected += [unended] if unended else []
    with tempfile.TemporaryFile() as file:
        file.write(encoding.mark + encoding.encode(text))
        file.flush()
        descriptor = file.fileno()
        found = index(descriptor, encoding, os.fstat(descriptor).st_size, never)
        assert found.total == len(expected)
        if not expected:
            return
        number = data.draw(st.integers(1, len(expected)))
        start = start_of(descriptor, encoding, found, number)
        seen = list(read_lines(descriptor, encoding, start, found.size))
    assert len(seen) == len(expected) - number + 1
    for line, whole in zip(seen, expected[number - 1 :], strict=True):
        ended = whole.removesuffix("\r") if line.ending == "\r\n" else whole
        assert line.length == len(ended)
        assert line.text == ended[:10]
        assert line.is_cut == (len(ended) > 10)
    assert [line.ending == "" for line in seen] == [False] * (len(seen) - 1) + [bool(unended)]


@given(st.binary(max_size=200))
def test_latin_1_gives_every_byte_back(content: bytes) -> None:
    assert LATIN_1.encode(LATIN_1.decode(content)) == content
