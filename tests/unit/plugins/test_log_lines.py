"""What a provider process prints, as lines of the kernel's log (P31)."""

import json
import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.plugins.log_lines import LogLines

LOGGER = "pluggableharness.provider.mine"
SECRET = "correct-horse-battery"


def logged(*chunks: bytes, level: int = logging.DEBUG) -> list[tuple[str, str]]:
    """The level and the text of what is logged of a stream that comes in these chunks."""
    kept: list[tuple[str, str]] = []

    class _Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.append((record.levelname.lower(), record.getMessage()))

    logger = logging.getLogger(LOGGER)
    handler, before = _Kept(), logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        lines = LogLines("mine", (SECRET,))
        for chunk in chunks:
            lines.add(chunk)
        lines.add(b"")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    return kept


def entry(level: object, message: object, **fields: object) -> bytes:
    return json.dumps({"@level": level, "@message": message, **fields}).encode() + b"\n"


@pytest.mark.req("K28")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("trace", "debug"),
        ("debug", "debug"),
        ("info", "info"),
        ("warn", "warning"),
        ("error", "error"),
    ],
)
def test_a_line_of_json_with_a_level_is_logged_at_it(written: str, read: str) -> None:
    assert logged(entry(written, "said", count=3)) == [(read, "said count=3")]


@pytest.mark.req("K28")
@pytest.mark.parametrize(
    "line",
    [
        b"plain words",
        b"{ no JSON",
        b'{"@level": "loud", "@message": "said"}',
        b'{"@level": ["warn"], "@message": "said"}',
        b'{"@level": "warn", "@message": 7}',
        b'{"@message": "said"}',
        b"[" * 20_000,
        b'{"a":' * 20_000,
    ],
    ids=range(8),
)
def test_any_other_line_is_logged_at_debug_and_cut(line: bytes) -> None:
    assert logged(line + b"\n") == [("debug", line.decode()[:400])]
    assert logged(line + b"\n", level=logging.INFO) == []


@pytest.mark.req("P31")
def test_secrets_and_control_characters_of_a_line_are_not_logged() -> None:
    assert logged(entry("warn", f"\x1b[2Jtoken {SECRET}"), f"raw {SECRET}\x07\n".encode()) == [
        ("warning", r"\x1b[2Jtoken [secret]"),
        ("debug", r"raw [secret]\x07"),
    ]


@pytest.mark.req("K28")
def test_a_line_without_end_comes_in_pieces_and_is_not_kept() -> None:
    told = logged(*[b"x" * 50_000] * 40)
    assert 10 < len(told) <= 40
    assert {line for _, line in told} == {"x" * 400}


@pytest.mark.req("K28")
@given(
    st.lists(st.sampled_from([entry("warn", "one"), entry("info", "two"), b"plain\n", b"\n"])),
    st.lists(st.integers(0, 300)),
)
def test_wherever_a_stream_is_cut_its_lines_are_the_same(lines: list[bytes], at: list[int]) -> None:
    stream = b"".join(lines)
    cuts = [0, *sorted(at), len(stream)]
    chunks = [stream[a:b] for a, b in pairwise(cuts) if stream[a:b]]
    assert logged(*chunks) == logged(*lines)
