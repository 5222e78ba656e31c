"""Argument text to a JSON object, strictly (P8)."""

import json
from math import isfinite
from typing import NoReturn

from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.schema.violation import Violation, quoted, shown

_DIGITS = 20
"""Longer integers are refused unread: they are out of range, and Python raises on huge ones."""


class _Refused(Exception):
    """JSON that Python would take and we do not."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.violation = Violation("", expected, got)


def parse_arguments(text: str) -> JsonObject | Violation:
    """The JSON object that `text` is, or why it is none.

    Nothing is guessed and nothing repaired: of two equal names Python would keep the last
    and another parser the first, so both are refused, as are NaN, infinities and numbers
    that become one.
    """
    if text.startswith("\ufeff"):
        return Violation("", "a JSON object", "text that starts with a byte order mark")
    try:
        value = _DECODER.decode(text)
    except _Refused as refused:
        return refused.violation
    except json.JSONDecodeError as error:
        return Violation("", "a JSON object", _what_is_there(error))
    except RecursionError:
        return Violation("", "at most 32 levels of nesting", "far more")
    if not isinstance(value, dict):
        return Violation("", "a JSON object", shown(value))
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Refused("each property once", f"{quoted(name)} twice")
            seen.add(name)
    return value


def _constant(name: str) -> NoReturn:
    raise _Refused("finite numbers", name)


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _Refused("numbers that a double can hold", text[:_DIGITS])
    return value


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise _Refused("integers within ±9007199254740992 (2^53)", f"one of {len(text)} digits")
    return int(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_float=_float, parse_int=_integer
)


def _what_is_there(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "nothing"
    if error.pos >= len(error.doc.rstrip()):
        return f"JSON that ends too early ({error.msg})"
    near = quoted(error.doc[max(0, error.pos - 10) : error.pos + 20])
    where = f"line {error.lineno}, column {error.colno}, near {near}"
    return f"text that is not JSON ({error.msg}: {where})"
