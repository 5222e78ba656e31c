"""JSON values to bytes that every reader agrees on, and back.

Python takes more than JSON has, and each library has its own idea of what to do then: null
for NaN, an exception for a lone surrogate. The rule here: a lone surrogate becomes its
escape, `\\ud83d`, as six plain characters; a number that is not finite becomes the string
that protobuf's JSON has for it, "NaN", "Infinity" or "-Infinity"; integers keep all digits.
Imports no protobuf, for those who only read a log.
"""

from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

import msgspec

from pluggableharness.kernel.domain.values import Json

JSON = "json.1"
"""The schema version of rows whose payload is such a text."""


def json_bytes(value: Json) -> bytes:
    """Compact JSON in UTF-8, without raw line ends.

    Raises:
        ValueError: a type that JSON does not have, or nesting beyond what Python's own
            recursion allows, some hundreds of levels.
    """
    try:
        return msgspec.json.encode(_clean(value))
    except RecursionError:
        raise ValueError("nested too deeply to be written as JSON") from None


def facts_bytes(facts: Mapping[str, str | bool | int | float | None]) -> bytes:
    """As `json_bytes`, for flat facts of our own: what is clean is written without a look.

    A float among them is finite. Cleaning first costs a decision, of which every call has
    one, more than all else about its row.
    """
    try:
        return msgspec.json.encode(facts)
    except UnicodeEncodeError:
        return json_bytes(facts)


def json_value(text: bytes | str) -> Any:
    """What a JSON text holds. Raises ValueError when it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from None


def unicode_text(text: str) -> str:
    """The text with lone surrogates written as escapes, so that it has an UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _clean(value: Json) -> Any:
    if isinstance(value, str):
        return unicode_text(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else _not_finite(value)
    if isinstance(value, Mapping):
        return {unicode_text(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    raise ValueError(f"a {type(value).__name__} is no JSON value")


def _not_finite(value: float) -> str:
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
