"""Secrets taken out of everything that a provider sends (P31). How they look, `wire` knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pluggableharness.sdk.events import (
    ExitStatus,
    Failure,
    LeadUp,
    OutputChunk,
    PartialResult,
    Progress,
    Result,
    Stream,
    Terminal,
)
from pluggableharness.wire.masking import Mask, MaskedStream

Send = Callable[[LeadUp], Awaitable[None]]


class Redactor(Mask):
    """Masks the secrets that a provider was configured with, in the values that it sends."""

    __slots__ = ()

    def and_also(self, secrets: Iterable[str]) -> Redactor:
        """Return one that masks these too: calls that run may still hold the earlier ones."""
        return Redactor((*self.secrets, *secrets))

    def value(self, value: Any) -> Any:
        """Return a JSON value, or a node of `render`, without any secret in its texts and keys.

        Anything else stays as it is, unless a secret shows in how Python writes it.
        """
        if not self.active or value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.value(key): self.value(member) for key, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, Struct):
            changed = {name: self.value(getattr(value, name)) for name in value.__struct_fields__}
            return replace(value, **changed)
        written = repr(value)
        clean = self.text(written)
        return value if clean == written else clean

    def terminal(self, event: Terminal) -> Terminal:
        """Return a terminal event without any secret."""
        match event:
            case Result(payload):
                return Result(self.value(payload))
            case Failure(category, message, retryable, details):
                return Failure(category, self.text(message), retryable, self.value(details))


class CleanEvents:
    """The events of one call on their way out, without any secret.

    Output is masked across its chunks, each stream by itself: an end that may be the beginning
    of a secret waits for what follows, until the child or the call has ended.
    """

    __slots__ = ("_redactor", "_send", "_streams")

    def __init__(self, redactor: Redactor, send: Send) -> None:
        self._redactor = redactor
        self._send = send
        self._streams: dict[Stream, MaskedStream] = {}

    async def send(self, event: LeadUp) -> None:
        """Send an event, or of output what can be told by now."""
        match event:
            case OutputChunk(data, stream):
                masked = self._streams.get(stream)
                if masked is None:
                    masked = self._streams[stream] = self._redactor.stream()
                await self._output(masked.feed(data), stream)
            case Progress(message, fraction):
                await self._send(Progress(self._redactor.text(message), fraction))
            case PartialResult(payload):
                await self._send(PartialResult(self._redactor.value(payload)))
            case ExitStatus():
                await self.end()
                await self._send(event)

    async def end(self) -> None:
        """Send what was held back."""
        for stream in tuple(self._streams):
            await self._output(self._streams.pop(stream).end(), stream)

    async def _output(self, data: bytes, stream: Stream) -> None:
        if data:
            await self._send(OutputChunk(data, stream))
