"""Ids that sort by time: ULIDs from the clock and the operating system's randomness."""

import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]
_SHIFTS = range(120, -1, -10)
_ROOM = 1 << 79
"""Half of the random part's range, so that counting up within a millisecond never overflows."""


class _Latest:
    """The last ULID that was made: within its millisecond the next ones count up from it.

    They are then in order among themselves too, and a call that needs six ids does not ask
    the operating system for randomness six times.
    """

    stamp = -1
    random = 0


def ulid(milliseconds: int | None = None) -> str:
    """A new ULID: 26 characters, the first ten from the time in milliseconds (K27)."""
    stamp = time.time_ns() // 1_000_000 if milliseconds is None else milliseconds
    if stamp == _Latest.stamp:
        _Latest.random += 1
    else:
        _Latest.stamp = stamp
        _Latest.random = int.from_bytes(os.urandom(10), "big") % _ROOM
    number = (stamp << 80) | _Latest.random
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in _SHIFTS])
