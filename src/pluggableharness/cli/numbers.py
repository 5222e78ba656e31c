"""Numbers of the command line, as argparse reads them."""

import argparse
import re
from typing import Final

from pluggableharness.kernel.domain.quoting import in_quotes

_LONGEST_S: Final = 31_536_000
"""A year: more seconds than any call may take."""


def seconds(text: str) -> float:
    """A length of time. Raises ArgumentTypeError that says what is allowed."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= _LONGEST_S:  # which not-a-number is neither
        raise argparse.ArgumentTypeError(
            f"{in_quotes(text, 40)} is no time; give seconds, more than 0 and at most {_LONGEST_S}"
        )
    return value


def count(text: str) -> int:
    """How many. Raises ArgumentTypeError that says what is allowed."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{in_quotes(text, 40)} is not a count; give 0 or more")
    return int(text)


def head(text: str) -> str:
    """The hash of a row. Raises ArgumentTypeError for what is none."""
    if not re.fullmatch("[0-9a-f]{64}", text.strip().lower()):
        raise argparse.ArgumentTypeError(
            f"{in_quotes(text, 40)} is no hash; give the 64 hexadecimal digits of a session's end"
        )
    return text.strip().lower()
