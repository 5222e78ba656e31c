"""Whether a failed call is tried again without asking the model (P15, P17)."""

from typing import assert_never

from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success

_BACKOFF_S = (0.25, 1.0)
"""Seconds before the first and the second retry; there is no third."""


def retry_delay(
    operation: Operation, outcome: Outcome, attempts: int, most: int = len(_BACKOFF_S)
) -> float | None:
    """Seconds to wait before the next attempt; None when this outcome is final.

    `attempts` counts those made, 1 after the first; `most` bounds the retries further. The
    caller keeps the call's lock, so that the retry is alone under its key.
    """
    if isinstance(outcome, Success) or attempts > min(most, len(_BACKOFF_S)):
        return None
    return _BACKOFF_S[attempts - 1] if _may_repeat(operation, outcome) else None


def _may_repeat(operation: Operation, failure: Failure) -> bool:
    if not failure.retryable or operation.kind is Kind.INTERACTIVE:
        return False
    match failure.category:
        case ErrorCategory.CONCURRENCY_CONFLICT:
            # It says that the call did nothing, so whatever the operation is, once more does
            # no harm. The kernel's own, of P23, is not retryable: waiting would never end.
            return True
        case ErrorCategory.TIMEOUT | ErrorCategory.EXECUTION_FAILED:
            return operation.kind is Kind.DATA_SOURCE or operation.idempotent
        case (
            ErrorCategory.INVALID_ARGUMENTS
            | ErrorCategory.NOT_FOUND
            | ErrorCategory.PERMISSION_DENIED
            | ErrorCategory.CANCELLED
            | ErrorCategory.PROCESS_CRASHED
            | ErrorCategory.UNKNOWN
        ):
            return False
        case never:
            assert_never(never)
