"""A GET with its redirects, each checked like a first address, under one deadline (C16)."""

import asyncio
from dataclasses import dataclass
from typing import Final

from pluggableharness.providers.web.addresses import forbidden
from pluggableharness.providers.web.answers import Answer, Wanted, answer_of, failure_of
from pluggableharness.providers.web.connecting import Network
from pluggableharness.providers.web.domains import Domains, without_www
from pluggableharness.providers.web.exchange import Request, Response, exchanged
from pluggableharness.providers.web.targets import Target, redirected, target_of
from pluggableharness.sdk import ExecutionFailed, InvalidArguments, PermissionDenied, TimedOut

_REDIRECTS: Final = 5
_MOVED: Final = (301, 302, 303, 307, 308)
_ACCEPT: Final = "text/html,application/xhtml+xml,application/json,text/*;q=0.9,*/*;q=0.5"


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches within what a configuration allows."""

    network: Network
    domains: Domains
    allow_private: bool

    async def fetch(self, url: str, wanted: Wanted) -> Answer:
        """Get what a URL stands for.

        Raises:
            InvalidArguments: the URL is none that is fetched.
            PermissionDenied: it, or what it redirects to, may not be fetched.
            ExecutionFailed: there is no answer, or one of 400 or more.
            TimedOut: it was not complete in time, redirects included.
        """
        target = target_of(url)
        self.domains.check(target.host)
        seconds = self.network.limits.total_s
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(url, target, wanted)
        except TimeoutError:
            raise TimedOut(f"{target.url} was not complete within {seconds:g} s") from None

    async def _follow(self, url: str, target: Target, wanted: Wanted) -> Answer:
        for redirects in range(_REDIRECTS + 1):
            found = await self._hop(url, target, wanted, redirects)
            if isinstance(found, Answer):
                return found
            target = found
        raise ExecutionFailed(
            f"{url_shown(url)} redirects more than {_REDIRECTS} times, last to {target.url}"
        )

    async def _hop(
        self, url: str, target: Target, wanted: Wanted, redirects: int
    ) -> Answer | Target:
        request = Request("GET", target, (("accept", _ACCEPT),))
        try:
            async with exchanged(
                self.network, request, allow_private=self.allow_private
            ) as response:
                if response.status in _MOVED:
                    return self._next(target, response)
                if response.status >= 400:
                    raise await failure_of(response, url_shown(url), target, retryable=True)
                return await answer_of(response, url_shown(url), target, wanted)
        except PermissionDenied as refusal:
            if redirects and "address" in (refusal.details or {}):
                raise _to_private(refusal.message, target) from None
            raise

    def _next(self, target: Target, response: Response) -> Target:
        """The target of a redirect, if it may be followed."""
        location = response.header(b"location")
        if not location:
            raise ExecutionFailed(
                f"{target.url} answered {response.status}, a redirect without a Location"
            )
        try:
            found = redirected(target, location)
        except InvalidArguments as refusal:
            raise PermissionDenied(
                f"{target.url} redirects to an address that is not fetched: {refusal.message}"
            ) from None
        self._check_redirect(target, found)
        return found

    def _check_redirect(self, origin: Target, found: Target) -> None:
        reason = forbidden(found.host) if found.is_address and not self.allow_private else None
        if reason is not None:
            raise _to_private(f"{found.host} is not reached from here ({reason})", found)
        self.domains.check(found.host)
        same = without_www(origin.host) == without_www(found.host)
        if not same and not self.domains.names(found.host):
            raise _elsewhere(origin, found, "another host")
        if origin.scheme == "https" and found.scheme == "http":
            raise _elsewhere(origin, found, "the same without TLS" if same else "one without TLS")


def url_shown(url: str) -> str:
    """The URL as it may be repeated: it was taken apart, so it holds no password."""
    return url.partition("#")[0]


def _to_private(why: str, target: Target) -> PermissionDenied:
    return PermissionDenied(
        f"redirect to a private address: {why}", details={"redirect": target.url}
    )


def _elsewhere(origin: Target, found: Target, what: str) -> PermissionDenied:
    return PermissionDenied(
        f"{origin.url} redirects to {what}, which was not followed: {found.url}. "
        "To go there, fetch that address in a call of its own.",
        details={"redirect": found.url},
    )
