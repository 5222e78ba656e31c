"""What streams by costs work in proportion to its length, whatever its author made of it."""

import subprocess
import sys
from pathlib import Path

import pytest

DRAW = Path(__file__).with_name("draw_hostile.py")
_MOST_S = 240
"""Some seconds do; work that grows with the square of a length takes far longer."""


@pytest.mark.req("K32")
def test_no_text_takes_more_than_its_length_is_worth() -> None:
    subprocess.run([sys.executable, DRAW], check=True, timeout=_MOST_S, capture_output=True)
