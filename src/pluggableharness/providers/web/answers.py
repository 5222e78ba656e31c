"""From an answer to what the model reads of it (C16).

Owns how much of a body is read, and what it is shown as; how one is asked for stands elsewhere.
"""

import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final, Literal

from pluggableharness.providers.web.charsets import text_of
from pluggableharness.providers.web.converter import page_of
from pluggableharness.providers.web.exchange import Response
from pluggableharness.providers.web.media import Media, by_bytes, by_type, declared
from pluggableharness.providers.web.targets import Target
from pluggableharness.providers.web.unpacking import Unpacker
from pluggableharness.sdk import Doc, ExecutionFailed
from pluggableharness.sdk.naming import bounded

Format = Literal["markdown", "text", "raw"]

LARGEST: Final = 10 * 1024 * 1024
"""Bytes of content that a call may ask for."""
USUAL: Final = 100_000
PAGE_BYTES: Final = 5 * 1024 * 1024
"""Bytes of HTML that are read: markup is many times what it says."""
_ERROR_BYTES: Final = 64 * 1024
_ERROR_SHOWN: Final = 500
_EMPTY: Final = (204, 205, 304)
_WORTH_ANOTHER_TRY: Final = (502, 503, 504)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    url: Annotated[str, Doc("The address that was asked for")]
    final_url: Annotated[str, Doc("The address that answered, after redirects")]
    status: Annotated[int, Doc("The HTTP status")]
    content_type: Annotated[str, Doc("As declared, empty if it was not")]
    content: Annotated[str, Doc("What it says; for other types than text, what it is")]
    truncated: Annotated[bool, Doc("Whether content is not all")]
    fetched_at: Annotated[str, Doc("When, in UTC")]
    title: str | None = None
    note: Annotated[str | None, Doc("What went otherwise than usual")] = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """How an answer is to be shown, and at most how many bytes of it."""

    form: Format = "markdown"
    max_bytes: int = USUAL


@dataclass(slots=True)
class _Body:
    data: bytearray
    cut: bool = False
    broken: bool = False


async def answer_of(response: Response, url: str, target: Target, wanted: Wanted) -> Answer:
    """Read an answer that is no error."""
    content_type = response.values(b"content-type")
    kind, charset = declared(content_type)
    media = by_type(kind)
    limit = PAGE_BYTES if media is not Media.TEXT and wanted.form != "raw" else wanted.max_bytes
    body = _Body(bytearray())
    if response.status not in _EMPTY:
        body = await _read(response, limit)
    shown = await _shown(response, body, media, (kind, charset), target, wanted)
    content, cut = _cut(shown.content, wanted.max_bytes) if shown.is_own else (shown.content, False)
    return Answer(
        url,
        target.url,
        response.status,
        content_type,
        content,
        cut or body.cut or body.broken,
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        shown.title,
        _note(response, body, cut or (body.cut and limit == wanted.max_bytes), wanted.max_bytes),
    )


async def failure_of(
    response: Response, url: str, target: Target, *, retryable: bool
) -> ExecutionFailed:
    """The error that a status of 400 or more becomes, with the start of what the server said."""
    status = f"{response.status} {_reason(response)}".strip()
    said = await _said(response, target)
    return ExecutionFailed(
        f"{target.url} answered {status}" + (f": {said}" if said else ""),
        retryable=retryable and response.status in _WORTH_ANOTHER_TRY,
        details={"status": response.status, "url": url, "final_url": target.url, "body": said},
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    content: str
    title: str | None = None
    is_own: bool = True
    """Whether the content is the body's own, and no word about it."""


async def _shown(
    response: Response,
    body: _Body,
    media: Media | None,
    kind: tuple[str, str | None],
    target: Target,
    wanted: Wanted,
) -> _Shown:
    data = body.data
    if not data:
        return _Shown("")
    # The bytes overrule a type only where that is missing, or would let a binary through.
    looks = by_bytes(data, kind[1])
    media = looks if media is None or looks is Media.BINARY else media
    if media is Media.BINARY:
        return _Shown(_described(response, body, kind[0]), is_own=False)
    cut = body.cut or body.broken
    markup = media is Media.PAGE or kind[0].endswith("xml")
    text = text_of(data, kind[1], markup=markup, cut=cut)
    if media is Media.TEXT or wanted.form == "raw":
        return _Shown(text)
    page = await page_of(text, wanted.form, target.url)
    return _Shown(page.content, page.title)


def _described(response: Response, body: _Body, kind: str) -> str:
    length = response.header(b"content-length")
    encoded = response.header(b"content-encoding") is not None
    size = f"{len(body.data)} bytes"
    if body.cut:
        known = length is not None and length.isdigit() and not encoded
        size = f"{int(length or 0)} bytes" if known else f"more than {size}"
    return f"binary content, type {kind or 'not declared'}, {size}"


async def _read(response: Response, limit: int) -> _Body:
    body = _Body(bytearray())
    unpacker = Unpacker(response.values(b"content-encoding"), limit)
    async for chunk in response.chunks():
        for piece in unpacker.feed(chunk):
            room = limit - len(body.data)
            body.data += piece[:room]
            if len(piece) > room:
                body.cut = True
                return body
        if unpacker.cut:
            body.cut = True
            return body
    body.broken = not response.complete or (bool(body.data) and not unpacker.ended)
    return body


async def _said(response: Response, target: Target) -> str:
    """The start of an error's body as one line; empty where it says nothing readable."""
    kind, charset = declared(response.values(b"content-type"))
    try:
        body = await _read(response, _ERROR_BYTES)
        wanted = Wanted("text", _ERROR_BYTES)
        shown = await _shown(response, body, by_type(kind), (kind, charset), target, wanted)
    except ExecutionFailed:
        return ""
    return bounded(" ".join(shown.content.split()), _ERROR_SHOWN)


def _cut(text: str, limit: int) -> tuple[str, bool]:
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text, False
    return data[:limit].decode("utf-8", "ignore"), True


def _note(response: Response, body: _Body, cut: bool, limit: int) -> str | None:
    if body.broken:
        return f"the server broke off after {len(body.data)} bytes of the body"
    if cut:
        return f"cut after {limit} bytes; max_bytes can be up to {LARGEST}"
    if body.cut:
        return f"only the first {len(body.data)} bytes of the body were read"
    if response.status == 304:
        return "the server says that nothing has changed"
    return None if body.data else "the body is empty"


def _reason(response: Response) -> str:
    if response.reason.isprintable() and response.reason:
        return response.reason[:80]
    try:
        return HTTPStatus(response.status).phrase
    except ValueError:
        return ""
