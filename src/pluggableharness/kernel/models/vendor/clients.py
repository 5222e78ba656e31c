"""The library's model for a choice of ours, and the settings that each vendor wants."""

import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from typing import Final, assert_never
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.models import Model as LibraryModel

from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.models.vendor.faults import TooMuch

_MOST_MIB: Final = 64
"""What one answer may bring, unpacked. A token of a stream comes in some 250 bytes: the longest
messages that vendors write are half of it."""

_TIMEOUT = httpx2.Timeout(600.0, connect=10.0)
"""Seconds: models may think for minutes before the first byte, but a host answers at once."""


def http_client(base_url: str) -> httpx2.AsyncClient:
    """A client for one vendor, which the caller closes.

    A proxy of the environment is not asked for what runs on this machine.
    """
    return httpx2.AsyncClient(
        timeout=_TIMEOUT,
        trust_env=not _is_local(base_url),
        event_hooks={"response": [_bound, _note]},
    )


async def _bound(response: httpx2.Response) -> None:
    """Let the answer be read as far as it may go. The libraries keep a line until it ends."""
    packed = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    response.headers.pop("Content-Encoding", None)  # what is counted is what comes out of it
    response.stream = _Bounded(packed)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, packed: httpx2.Response) -> None:
        self._packed = packed

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        left = _MOST_MIB * 2**20
        async with aclosing(self._packed.aiter_bytes()) as pieces:
            async for piece in pieces:
                left -= len(piece)
                if left < 0:
                    raise TooMuch(f"more than {_MOST_MIB} MiB")
                yield piece

    async def aclose(self) -> None:
        await self._packed.aclose()


_responses: ContextVar[list[httpx2.Response] | None] = ContextVar("responses", default=None)


async def _note(response: httpx2.Response) -> None:
    noted = _responses.get()
    if noted is not None:
        noted.append(response)


@asynccontextmanager
async def responses_closed() -> AsyncIterator[None]:
    """Whatever was answered to this task within the block is closed at its end.

    A vendor's library that is interrupted may leave that to the garbage collector; the vendor
    would write on, and be paid for it.
    """
    noted: list[httpx2.Response] = []
    before = _responses.set(noted)
    try:
        yield
    finally:
        _responses.reset(before)
        for response in noted:
            await response.aclose()


def library_model(
    choice: ModelChoice, base_url: str, key: str | None, http: httpx2.AsyncClient
) -> LibraryModel:
    """The library's model; `base_url` "" is the vendor's own address."""
    match choice.vendor:
        case Vendor.ANTHROPIC:
            return _anthropic(choice.id, base_url, key, http)
        case Vendor.OPENAI:
            return _openai(choice.id, base_url, key, http)
        case Vendor.GOOGLE:
            return _google(choice.id, base_url, key, http)
        case Vendor.COMPATIBLE:
            return _compatible(choice.id, base_url, key, http)
        case _:
            assert_never(choice.vendor)


# Each vendor's part of the library takes up to a second to import: only that of the one needed.


def _anthropic(
    model: str, base_url: str, key: str | None, http: httpx2.AsyncClient
) -> LibraryModel:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=key, base_url=base_url or None, http_client=http)
    return AnthropicModel(model, provider=provider)


def _openai(model: str, base_url: str, key: str | None, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=key, base_url=base_url or None, http_client=http)
    return OpenAIResponsesModel(model, provider=provider)


def _google(model: str, base_url: str, key: str | None, http: httpx2.AsyncClient) -> LibraryModel:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=key, base_url=base_url or None, http_client=http)
    return GoogleModel(model, provider=provider)


def _compatible(
    model: str, base_url: str, key: str | None, http: httpx2.AsyncClient
) -> LibraryModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    name = Vendor.COMPATIBLE.value
    provider = OpenAICompatibleProvider(name, base_url=base_url, api_key=key, http_client=http)
    return OpenAIChatModel(model, provider=provider)


def _is_local(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
