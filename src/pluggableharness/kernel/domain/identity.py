"""Ids that sort by time: ULIDs from the clock and the operating system's randomness."""

import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]


def ulid(milliseconds: int | None = None) -> str:
    """A new ULID: 26 characters, the first ten from the time in milliseconds (K27)."""
    stamp = time.time_ns() // 1_000_000 if milliseconds is None else milliseconds
    number = (stamp << 80) | int.from_bytes(os.urandom(10), "big")
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])
