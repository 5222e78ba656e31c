"""The kernel's exceptions, drawn as a tree.

    HarnessError
    ├── UsageError             what was asked for makes no sense; nothing was started
    ├── ProviderUnavailable    a provider cannot be launched, or breaks the contract at load
    ├── ModelFailed            the model has no next message
    └── RecordFailed           the log cannot be written; nothing unrecorded may run

    asyncio.CancelledError
    └── CallCancelled          a running call was cancelled; carries what had been done

A tool's failure is not among them: it is a value (`outcome.Failure`). Each message says
what failed, on what, and what to do next (P16).
"""

import asyncio

from pluggableharness.kernel.domain.outcome import Failure


class HarnessError(Exception):
    """Anything that the kernel raises on purpose."""


class UsageError(HarnessError):
    """What was asked for makes no sense."""


class ProviderUnavailable(HarnessError):
    """A provider cannot serve; `provider` is its name."""

    def __init__(self, provider: str, message: str) -> None:
        super().__init__(message)
        self.provider = provider


class ModelFailed(HarnessError):
    """The model has no next message."""


class RecordFailed(HarnessError):
    """The session's log cannot be written."""


class CallCancelled(asyncio.CancelledError):
    """A call was cancelled while it ran; `failure` holds the provider's report (P26).

    It is a CancelledError, so that task groups and callers treat it as the cancellation
    that it is, and nobody can take it for a result.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure
