r"""How a value is named in a message: on one line, short enough to read, nothing hidden (P16).

`named` is for paths and other names, `quoted` for texts, `shown` for any JSON value. What they
leave out they say: `…` and how much there was. `visible` leaves nothing out, for results.
"""

from __future__ import annotations

import json
from typing import Any, Final

LONGEST_NAME: Final = 400
LONGEST_VALUE: Final = 80
LONGEST_MESSAGE: Final = 20_000
_ASCII: Final = 0x80


def visible(name: bytes | str) -> str:
    r"""Show a name or path in one line: nothing in it can hide, move a cursor or break a line.

    Printable letters of any script stay themselves; combining marks, every space but the plain
    one, controls and bytes that are not UTF-8 become `\xNN`, `\uNNNN` or `\UNNNNNNNN`.
    """
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _is_plain(character) else _escape(character) for character in text)


def named(name: bytes | str) -> str:
    """Name a path, or the like, in a message."""
    return visible(name[:LONGEST_NAME]) + _rest(len(name), LONGEST_NAME)


def quoted(text: str) -> str:
    """Repeat a text in a message, in quotes."""
    if len(text) <= LONGEST_VALUE:
        return repr(text)
    return f"{f'{text[:LONGEST_VALUE]}…'!r} ({len(text)} characters)"


def shown(value: Any) -> str:
    """Repeat a value in a message, as JSON."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return visible(text[:LONGEST_VALUE]) + _rest(len(text), LONGEST_VALUE)


def bounded(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Cut what nobody would read, as a whole message that repeats what somebody sent."""
    return text[:most] + _rest(len(text), most)


def _rest(length: int, limit: int) -> str:
    return f"… ({length} characters)" if length > limit else ""


def _is_plain(character: str) -> bool:
    # 1 ms to import, and only a name that is not ASCII needs it.
    import unicodedata

    return character.isprintable() and not unicodedata.category(character).startswith("M")


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < _ASCII:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
