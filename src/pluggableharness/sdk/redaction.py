"""Secrets taken out of everything that a provider sends (P31)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

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
    Terminal,
)

PLACEHOLDER: Final = "[secret]"
SHORTEST: Final = 4
"""A shorter value is left alone: it is found in too many words, and is no secret."""


class Redactor:
    """Replaces the secrets that a provider was configured with; without any it does nothing."""

    __slots__ = ("_secrets", "_secrets_bytes", "active")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Longest first, so that a secret which contains another goes as a whole.
        self._secrets = sorted({s for s in secrets if len(s) >= SHORTEST}, key=len, reverse=True)
        self._secrets_bytes = [secret.encode("utf-8", "surrogatepass") for secret in self._secrets]
        self.active = bool(self._secrets)

    def text(self, text: str) -> str:
        """Return `text` without any secret."""
        for secret in self._secrets:
            text = text.replace(secret, PLACEHOLDER)
        return text

    def data(self, data: bytes) -> bytes:
        """Return `data` without any secret that lies whole in it."""
        for secret in self._secrets_bytes:
            data = data.replace(secret, PLACEHOLDER.encode())
        return data

    def value(self, value: Any) -> Any:
        """Return a JSON value, or a node of `render`, without any secret in its texts and keys."""
        if not self.active:
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
        return value

    def lead_up(self, event: LeadUp) -> LeadUp:
        """Return an event without any secret."""
        match event:
            case OutputChunk(data, stream):
                return OutputChunk(self.data(data), stream)
            case Progress(message, fraction):
                return Progress(self.text(message), fraction)
            case PartialResult(payload):
                return PartialResult(self.value(payload))
            case ExitStatus():
                return event

    def terminal(self, event: Terminal) -> Terminal:
        """Return a terminal event without any secret."""
        match event:
            case Result(payload):
                return Result(self.value(payload))
            case Failure(category, message, retryable, details):
                return Failure(category, self.text(message), retryable, self.value(details))
