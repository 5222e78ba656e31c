"""The failures that an operation may end with, and the mistakes that an author can make.

    Exception
    ├── ToolFailure              for the model: raised by an operation, category unknown (P15)
    │   ├── InvalidArguments     the arguments cannot be what was meant
    │   ├── NotFound             what they name does not exist
    │   ├── PermissionDenied     it may not be done; never retried with more privilege
    │   ├── ExecutionFailed      it was tried and did not work
    │   ├── TimedOut             it took too long
    │   └── ConcurrencyConflict  something else holds what it needs
    ├── KernelUnavailable        a callback without a kernel to answer it
    └── Misuse                   for the author: the contract would have been broken
        ├── DeclarationError     found before the provider is served
        └── ResultMismatch       the function returned what it did not declare

Knows nothing of the wire: the category's name is all that a failure carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar


class Category(StrEnum):
    """What became of a call that has no result (P15).

    `process_crashed` is not here: only a kernel can tell it.
    """

    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    EXECUTION_FAILED = "execution_failed"
    TIMEOUT = "timeout"
    CONCURRENCY_CONFLICT = "concurrency_conflict"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class ToolFailure(Exception):
    """Ends the call with an error that the model reads (P15, P16).

    `message` says what failed, on what, and what to do next. `retryable` lets the kernel try
    again by itself where that is harmless (P17). `details` are JSON values beside the message.
    """

    category: ClassVar[Category] = Category.UNKNOWN

    def __init__(
        self, message: str, *, retryable: bool = False, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.details = details


class InvalidArguments(ToolFailure):
    """The arguments cannot be what was meant, whatever their types."""

    category = Category.INVALID_ARGUMENTS


class NotFound(ToolFailure):
    """What the arguments name does not exist."""

    category = Category.NOT_FOUND


class PermissionDenied(ToolFailure):
    """It may not be done here. Say what would be allowed."""

    category = Category.PERMISSION_DENIED


class ExecutionFailed(ToolFailure):
    """It was tried and did not work. A child's non-zero exit is a result and not this (P13)."""

    category = Category.EXECUTION_FAILED


class TimedOut(ToolFailure):
    """It took longer than it may. `details` may hold what there was by then."""

    category = Category.TIMEOUT


class ConcurrencyConflict(ToolFailure):
    """Something else holds what the call needs, and nothing was done.

    With `retryable` the kernel tries it again under the same lock, whatever the operation is.
    """

    category = Category.CONCURRENCY_CONFLICT


class KernelUnavailable(Exception):
    """A callback (`emit`, `run_session`) found no kernel that answers it."""


class Misuse(Exception):
    """The provider's code would have broken the contract; the kernel reads it as unknown."""


class DeclarationError(Misuse):
    """A declaration breaks the rules of P1 to P6. Lists every violation at once (P2)."""

    def __init__(self, subject: str, problems: Sequence[str]) -> None:
        self.subject = subject
        self.problems = tuple(problems)
        super().__init__("\n  ".join((f"{subject} is declared wrongly:", *self.problems)))


class ResultMismatch(Misuse):
    """A function returned, or sent, what its declared type does not allow (P12)."""
