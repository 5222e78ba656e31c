"""The events of one call as plain values (P10), before they become messages of the wire.

msgspec's structs and not dataclasses, here and wherever the SDK has values of its own: making a
frozen, slotted dataclass takes 0.7 ms at import and an instance 0.5 µs, a struct hardly anything,
and a cold call pays for every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from pluggableharness.sdk.failures import Category

Stream = Literal["stdout", "stderr"]


class OutputChunk(Struct, frozen=True):
    """Bytes as a child printed them, cut anywhere."""

    data: bytes
    stream: Stream


class Progress(Struct, frozen=True):
    """How far the call is; `fraction` from 0 to 1 where that is known."""

    message: str
    fraction: float | None = None


class PartialResult(Struct, frozen=True):
    """A part of the result, as soon as it is known."""

    payload: Mapping[str, Any]


class ExitStatus(Struct, frozen=True):
    """How the child process of an operation ended; `signal` is its name, "SIGKILL"."""

    code: int
    signal: str | None = None


class Result(Struct, frozen=True):
    """The end of a call that did what it was asked."""

    payload: Mapping[str, Any]


class Failure(Struct, frozen=True):
    """The end of a call that did not."""

    category: Category
    message: str
    retryable: bool = False
    details: Mapping[str, Any] | None = None


LeadUp = OutputChunk | Progress | PartialResult | ExitStatus
Terminal = Result | Failure
Event = LeadUp | Terminal
