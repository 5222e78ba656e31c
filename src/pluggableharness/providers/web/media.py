"""What a body is: a page, text, or something that is described and not dumped (C16)."""

import re
from enum import Enum
from typing import Final

_TEXTUAL: Final = re.compile(
    r"application/(?:json|jsonl|x-ndjson|xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml"
    r"|sql|graphql|x-sh|x-www-form-urlencoded)|text/.*|.*\+(?:json|xml|yaml)"
)
_PAGES: Final = ("text/html", "application/xhtml+xml")
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


class Media(Enum):
    """How a body is shown."""

    PAGE = "page"
    TEXT = "text"
    BINARY = "binary"


def declared(content_type: str) -> tuple[str, str | None]:
    """Type and charset of a Content-Type header, in lower case; empty and None where missing."""
    kind, *parameters = (part.strip() for part in content_type.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return kind.lower(), value.strip().strip("\"'").lower() or None
    return kind.lower(), None


def by_type(kind: str) -> Media | None:
    """What a type says; None where there is none, so that the bytes have to."""
    if not kind:
        return None
    if kind in _PAGES:
        return Media.PAGE
    return Media.TEXT if _TEXTUAL.fullmatch(kind) else Media.BINARY


def by_bytes(data: bytes | bytearray, charset: str | None) -> Media:
    """What the first bytes say: a NUL in anything but UTF-16 or UTF-32 is no text's."""
    wide = data.startswith(_MARKS) or (charset or "").startswith(("utf-16", "utf16", "utf-32"))
    if b"\0" in data[:65536] and not wide:
        return Media.BINARY
    if data[:8] == b"\x89PNG\r\n\x1a\n" or data.startswith(
        (b"%PDF-", b"PK\x03\x04", b"\xff\xd8\xff")
    ):
        return Media.BINARY
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return Media.PAGE if start.startswith((b"<!doctype html", b"<html", b"<head")) else Media.TEXT
