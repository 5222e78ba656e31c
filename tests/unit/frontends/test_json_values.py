"""JSON values as text: what programs read is the same whichever way it was written."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pluggableharness.kernel.frontends.json_values import ascii_line, jsonable

NUMBERS = st.integers() | st.floats() | st.sampled_from([1.0, -0.0, 1e22, 5e-324, 1e300, 2.50])
TEXTS = st.text() | st.text(alphabet='01.e-+,]}:"\\\x7f\ud83d\u2028é')
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner) | st.tuples(inner, inner),
)


@given(VALUES)
@example({"deadline_s": 120.0})
@example(1.0)
@example([-0.0])
@example([1.0, "1.0]"])
@example(10.0**20)
@example([float("inf"), float("nan")])
@example({"a": -1.5e-07})
@pytest.mark.req("K33", "P8")
def test_a_line_says_what_the_value_says_in_printing_ascii(value: Any) -> None:
    line = ascii_line(value).decode()
    assert re.fullmatch(r"[ -\x7e\x7f]*", line)
    slow = json.dumps(jsonable(value), separators=(",", ":"))
    assert _exact(line) == _exact(slow)


def _exact(line: str) -> object:
    """What a line holds, integers apart from fractions and keys in their order."""
    return json.loads(
        line,
        object_pairs_hook=lambda pairs: ["object", *pairs],
        parse_int=lambda text: ("int", int(text)),
        parse_float=lambda text: ("float", float(text)),
    )
