"""The events of one call as plain values (P10), before they become messages of the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pluggableharness.sdk.failures import Category

Stream = Literal["stdout", "stderr"]


@dataclass(slots=True, frozen=True)
class OutputChunk:
    """Bytes as a child printed them, cut anywhere."""

    data: bytes
    stream: Stream


@dataclass(slots=True, frozen=True)
class Progress:
    """How far the call is; `fraction` from 0 to 1 where that is known."""

    message: str
    fraction: float | None = None


@dataclass(slots=True, frozen=True)
class PartialResult:
    """A part of the result, as soon as it is known."""

    payload: Mapping[str, Any]


@dataclass(slots=True, frozen=True)
class ExitStatus:
    """How the child process of an operation ended; `signal` is its name, "SIGKILL"."""

    code: int
    signal: str | None = None


@dataclass(slots=True, frozen=True)
class Result:
    """The end of a call that did what it was asked."""

    payload: Mapping[str, Any]


@dataclass(slots=True, frozen=True)
class Failure:
    """The end of a call that did not."""

    category: Category
    message: str
    retryable: bool = False
    details: Mapping[str, Any] | None = None


LeadUp = OutputChunk | Progress | PartialResult | ExitStatus
Terminal = Result | Failure
Event = LeadUp | Terminal
