"""The kernel's exceptions, drawn as a tree.

    HarnessError
    ├── UsageError             what was asked for makes no sense; nothing was started
    ├── ProviderUnavailable    a provider cannot be launched, or breaks the contract at load
    ├── ModelFailed            the model has no next message
    ├── GrantNotKept           an answer that was to last cannot be kept
    ├── ProgramFailed          a program that is no provider gave no answer
    └── RecordFailed           the log cannot be written; nothing unrecorded may run

Beside the tree stands `cancelled.CallCancelled`, which is a CancelledError. A tool's failure is
not among them: it is a value (`outcome.Failure`). Each message says what failed, on what,
and what to do next (P16).
"""


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


class GrantNotKept(HarnessError):
    """An answer that was to last cannot be kept; it holds for nothing (K10)."""


class ProgramFailed(HarnessError):
    """A program that is no provider, a reviewer say, gave no answer (K8)."""


class RecordFailed(HarnessError):
    """The session's log cannot be written.

    `before_start` when there is none to begin with.
    """

    before_start = False
