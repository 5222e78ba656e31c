r"""How a name that was shown with escapes is read back, and made into bytes (P16).

A name is bytes; `naming` shows it as UTF-8 text in which whatever cannot be seen, or would be
taken for something else, stands as an escape: `\xe9`, `\u202f`. Knows nothing of the file system.
"""

import re
import unicodedata

from pluggableharness.sdk.failures import InvalidArguments
from pluggableharness.sdk.naming import named

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_SPACE, _DELETE, _ASCII = 0x20, 0x7F, 0x80


def unescaped(text: str) -> str:
    r"""Read back what `visible` wrote, so that a name shown by one call can be given to the next.

    Of ASCII only escapes of control characters are read: `\x2egit` stays what it is, so that a
    rule about paths cannot be spelled around.
    """
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    byte, short, long = match.groups()
    code = int(byte or short or long, 16)
    is_control = 0 < code < _SPACE or code == _DELETE
    if (code < _ASCII and not is_control) or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return match.group()
    return chr(0xDC00 + code) if byte and not is_control else chr(code)


def encoded(text: str, field: str = "path") -> bytes:
    """Make a path that came as text into the bytes that the system is asked for.

    Raises InvalidArguments for an empty one, a NUL, and half of a surrogate pair.
    """
    if not text:
        raise InvalidArguments(f"{field} is empty: name a file or folder.")
    if "\0" in text:
        raise InvalidArguments(f"{field} {named(text)} holds a NUL: no file has such a name.")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidArguments(
            f"{field} {named(text)} holds half of a surrogate pair: send whole characters."
        ) from None


def likeness(name: bytes) -> str:
    """Reduce a name to what a reader sees: two names of one likeness are easily confused."""
    text = unicodedata.normalize("NFKC", name.decode("utf-8", "replace"))
    return " ".join(text.casefold().split())
