"""JSON values as text: for lines that programs read and for places where people do."""

import json
import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.frontends.text import escaped

_PLAIN = frozenset({str, int, bool, type(None)})
"""Nearly all values there are, and the checks for the others are slow."""

_WHOLE = re.compile(rb"\.0(?![0-9])")
_LARGE = re.compile(rb"e-?[1-9]")
_CERTAINLY_LARGE = re.compile(rb"[0-9]e-?[1-9]")
"""In a text without the first and the last no number is written otherwise than `jsonable` would
have it. The middle one finds in a fifth of the time that there is none."""


def jsonable(value: Json) -> object:
    """The value as `json.dumps` takes it.

    A number without a fraction is an integer; one that JSON cannot hold (an infinity or
    NaN, which only a broken event can carry) is null.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    if type(value) is dict or isinstance(value, Mapping):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [jsonable(item) for item in value]
    return value


def is_deep(value: Json, levels: int = 100) -> bool:
    """Whether a value has more levels than that: a schema allows far fewer, and what writes and
    compares JSON recurses."""
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(is_deep(one, levels - 1) for one in inner)


def ascii_line(value: Json) -> bytes:
    """The value on one line of printing ASCII: nothing in it can disturb a terminal."""
    try:
        # Five times as fast, and right for nearly all lines: replays print many (S13).
        line = msgspec.json.encode(value)
        if _is_final(line):
            return line
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass  # It is for json to say what is wrong with it, if anything is.
    return json.dumps(jsonable(value), separators=(",", ":")).encode()


def _is_final(line: bytes) -> bool:
    if not line.isascii() or (b".0" in line and _WHOLE.search(line)):
        return False
    return not _LARGE.search(line) or not _CERTAINLY_LARGE.search(line)


def compact(value: Json, encoding: str = "utf-8") -> str:
    """The value on one line for a person."""
    return _readable(value, encoding, None)


def pretty(value: Json, encoding: str = "utf-8") -> str:
    """The value over several indented lines for a person."""
    return _readable(value, encoding, 2)


def _readable(value: Json, encoding: str, indent: int | None) -> str:
    """Plain characters where all of them print, JSON's own escapes where one does not."""
    text = json.dumps(jsonable(value), ensure_ascii=False, indent=indent)
    if escaped(text.replace("\n", " "), encoding) is None:
        return text
    return json.dumps(jsonable(value), indent=indent)
