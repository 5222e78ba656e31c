"""A request that may change something elsewhere (C17): sent once, never redirected."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pluggableharness.providers.web.answers import Answer, Wanted, answer_of, failure_of
from pluggableharness.providers.web.connecting import Network
from pluggableharness.providers.web.domains import Domains
from pluggableharness.providers.web.exchange import Request, exchanged
from pluggableharness.providers.web.targets import target_of
from pluggableharness.sdk import InvalidArguments, PermissionDenied, TimedOut
from pluggableharness.sdk.naming import named, quoted

_LARGEST_BODY: Final = 1024 * 1024
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OURS: Final = re.compile(
    "host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect"
    "|accept-encoding|proxy-.*",
    re.I,
)
"""Headers that say how the request travels: whoever sets them speaks another request."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends within what a configuration allows."""

    network: Network
    domains: Domains
    allow_private: bool

    async def send(self, request: Request, url: str, began: Callable[[], None]) -> Answer:
        """Send a request; `began` is called before it may have reached the server.

        Raises:
            PermissionDenied: it may not be sent there.
            ExecutionFailed: there is no answer, or one of 400 or more.
            TimedOut: the answer was not complete in time; the server may have acted all the same.
        """
        self.domains.check(request.target.host)
        seconds = self.network.limits.total_s
        try:
            async with asyncio.timeout(seconds):
                return await self._send(request, url, began)
        except TimeoutError:
            raise TimedOut(
                f"{request.target.url} was not complete within {seconds:g} s; the request may have "
                "taken effect"
            ) from None

    async def _send(self, request: Request, url: str, began: Callable[[], None]) -> Answer:
        target = request.target
        async with exchanged(
            self.network, request, allow_private=self.allow_private, began=began
        ) as response:
            if response.status >= 400:
                raise await failure_of(response, url, target, retryable=False)
            answer = await answer_of(response, url, target, Wanted())
            location = response.header(b"location")
        if 300 <= response.status < 400 and location:
            where = location.decode("latin-1")
            note = f"it redirects to {_without_credentials(where)}, which was not followed"
            return replace(answer, note=note)
        return answer

    async def addresses(self, request: Request) -> tuple[str, ...]:
        """What the host resolves to, checked: for the person who is asked (P29)."""
        self.domains.check(request.target.host)
        found = await self.network.addresses(request.target, allow_private=self.allow_private)
        return tuple(found)


def request_of(method: str, url: str, headers: Mapping[str, str], body: str | None) -> Request:
    """Check a request before anything of it is sent.

    Raises:
        InvalidArguments: the URL, a header or the body cannot be sent.
    """
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise InvalidArguments(f"headers: {quoted(name)} is no name of a header")
        if _OURS.fullmatch(name):
            raise InvalidArguments(f"headers: {name} is set by what sends the request")
        if not _can_travel(value):
            raise InvalidArguments(
                f"headers.{named(name)}: its value holds line breaks, controls, or what is not "
                "Latin-1"
            )
    data = None if body is None else body.encode("utf-8", "replace")
    if data is not None and len(data) > _LARGEST_BODY:
        raise InvalidArguments(f"body: {len(data)} bytes; at most {_LARGEST_BODY} are sent")
    # Without a length some servers wait for a body until they give up.
    return Request(method, target_of(url), tuple(headers.items()), data or b"")


def refuse_when_off(is_on: bool) -> None:
    """Refuse what the configuration has not turned on, whoever asks.

    Raises:
        PermissionDenied: it has not.
    """
    if not is_on:
        raise PermissionDenied(
            "http_request is off; the person who configures this turns it on by "
            'http_request = true in the block provider "web"'
        )


def _can_travel(value: str) -> bool:
    return all(32 <= ord(one) < 127 or 160 <= ord(one) < 256 or one == "\t" for one in value) and (
        value == value.strip()
    )


def _without_credentials(location: str) -> str:
    return re.sub(r"//[^/?#]*@", "//", location)[:2048]
