"""Content encodings come off in pieces, whatever pieces they come in."""

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.providers.web.charsets import codec_of, text_of
from pluggableharness.providers.web.unpacking import Unpacker
from pluggableharness.sdk import ExecutionFailed

pytestmark = pytest.mark.req("C16")

LIMIT = 10_000_000


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKINGS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", bare),
    ("gzip, deflate", lambda data: zlib.compress(gzip.compress(data))),
    ("deflate, gzip", lambda data: gzip.compress(bare(data))),
    ("gzip", lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:])),
    ("gzip", lambda data: gzip.compress(data) + b"\0\0 padding"),
    ("", bytes),
    ("identity", bytes),
)


def unpacked(unpacker: Unpacker, packed: bytes, step: int) -> bytes:
    chunks = (packed[at : at + step] for at in range(0, len(packed), step))
    return b"".join(piece for chunk in chunks for piece in unpacker.feed(chunk))


@given(
    st.binary(max_size=300).map(lambda data: data * 500) | st.binary(max_size=300),
    st.sampled_from(PACKINGS),
    st.integers(1, 2000),
)
def test_what_was_packed_comes_out_whatever_the_chunks(
    data: bytes, packing: tuple[str, Callable[[bytes], bytes]], step: int
) -> None:
    encodings, pack = packing
    unpacker = Unpacker(encodings, LIMIT)
    assert unpacked(unpacker, pack(data), step) == data
    assert not unpacker.cut and (unpacker.ended or not data)


@pytest.mark.parametrize(("encodings", "pack"), PACKINGS[:5])
def test_one_that_is_cut_off_has_not_ended(encodings: str, pack: Callable[[bytes], bytes]) -> None:
    unpacker = Unpacker(encodings, LIMIT)
    unpacked(unpacker, pack(bytes(range(256)) * 10)[:-9], 50)
    assert not unpacker.ended


def test_a_layer_that_hands_nothing_on_stops_at_its_own_limit() -> None:
    """A gzip whose name goes on for ever unpacks to nothing and would be read to its end."""
    endless_name = b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"n" * 50_000_000
    unpacker = Unpacker("gzip, gzip", 1_000_000)
    assert unpacked(unpacker, gzip.compress(endless_name), 65536) == b""
    assert unpacker.cut


@pytest.mark.parametrize("encodings", ["br", "zstd", "gzip, br", "gzip, gzip, gzip, gzip"])
def test_encodings_that_were_not_asked_for_are_refused(encodings: str) -> None:
    with pytest.raises(ExecutionFailed):
        Unpacker(encodings, LIMIT)


@given(st.binary(max_size=200), st.text(max_size=12), st.booleans(), st.booleans())
def test_any_bytes_become_text_under_any_label(
    data: bytes, label: str, markup: bool, cut: bool
) -> None:
    text_of(data, label, markup=markup, cut=cut)


@pytest.mark.parametrize(
    ("label", "codec"),
    [("UTF8", "utf-8"), ("latin1", "cp1252"), ("us-ascii", "cp1252"), ("GB2312", "gb18030"),
     ("sjis", "cp932"), ("Windows-1251", "cp1251"), ("EUC-JP", "euc_jp"), ("big5", "big5hkscs"),
     ("hex", None), ("rot13", None), ("unicode_escape", None), ("utf-7", None), ("idna", None),
     ("punycode", None), ("zip", None), ("", None), ("\0", None), ("cp037", None)],
)  # fmt: skip
def test_labels_are_those_of_the_web(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec
