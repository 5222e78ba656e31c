"""Asking the configured engine, under the limits of every request (C18)."""

import asyncio
from collections.abc import Iterable
from typing import Final

from pluggableharness.providers.web.answers import Answer, Wanted, answer_of, failure_of
from pluggableharness.providers.web.connecting import Network
from pluggableharness.providers.web.engines import ENGINES, Engine, Hit, Query, Results
from pluggableharness.providers.web.exchange import Request, exchanged
from pluggableharness.providers.web.settings import Search
from pluggableharness.providers.web.targets import canonical_host, target_of
from pluggableharness.sdk import (
    ExecutionFailed,
    InvalidArguments,
    PermissionDenied,
    TimedOut,
    ToolFailure,
)
from pluggableharness.sdk.naming import quoted

_BYTES: Final = 2 * 1024 * 1024
_HOW: Final = (
    'To configure an engine, write in agent.hcl, in the block provider "web": '
    'search = { engine = "brave", api_key = env("BRAVE_API_KEY") }, or "tavily" with its key, or '
    '"searxng" with url = "https://…" of an instance that offers JSON'
)


async def search(network: Network, chosen: Search, query: Query) -> Results:
    """Ask the configured engine.

    Raises:
        InvalidArguments: `site` is no host.
        ExecutionFailed: the engine did not answer with results; says how to configure one.
        TimedOut: it did not answer in time.
    """
    engine = ENGINES[chosen.engine]
    query = Query(query.text, query.limit, _site(query.site))
    base = target_of(chosen.url or engine.address)
    request = engine.request(chosen, base, query)
    try:
        async with asyncio.timeout(network.limits.total_s):
            # Whoever wrote the address of an engine down means it, also on this machine.
            text = await _asked(network, request, engine, allow_private=bool(chosen.url))
        return Results(_first(engine.hits(text, query), query.limit), chosen.engine)
    except TimeoutError:
        raise TimedOut(f"{chosen.engine} did not answer in time. {_HOW}") from None
    except (ExecutionFailed, PermissionDenied) as failure:
        raise _advised(chosen.engine, failure) from None


async def _asked(network: Network, request: Request, engine: Engine, *, allow_private: bool) -> str:
    async with exchanged(network, request, allow_private=allow_private) as response:
        if response.status in engine.advice:
            raise ExecutionFailed(engine.advice[response.status])
        if response.status != 200:
            # Redirects are not followed: the key would go along.
            raise await failure_of(response, request.target.url, request.target, retryable=True)
        answer: Answer = await answer_of(
            response, request.target.url, request.target, Wanted("raw", _BYTES)
        )
        return answer.content


def _first(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The first results that lead anywhere, each address once."""
    found: dict[str, Hit] = {}
    for one in hits:
        if one.url.startswith(("http://", "https://")):
            found.setdefault(one.url, one)
    return list(found.values())[:limit]


def _site(site: str | None) -> str | None:
    if site is None:
        return None
    try:
        return canonical_host(site)
    except InvalidArguments:
        raise InvalidArguments(
            f"site: {quoted(site)} is no host; write it like example.com"
        ) from None


def _advised(name: str, failure: ToolFailure) -> ExecutionFailed:
    return ExecutionFailed(
        f"{name} gave no results: {failure.message.rstrip('.')}. {_HOW}",
        retryable=failure.retryable,
        details={"engine": name},
    )
