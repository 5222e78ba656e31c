"""A denial as an outcome: what the model reads, and how it differs from a provider's refusal."""

from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome
from pluggableharness.kernel.domain.verdict import Verdict

_DECIDED_BY = "decided_by"


def denial(verdict: Verdict) -> Failure:
    """What the model reads about a call that may not run (K10)."""
    reason = verdict.reason or "no reason was given"
    return Failure(
        ErrorCategory.PERMISSION_DENIED,
        f"Denied by {verdict.decided_by}: {reason}",
        details={_DECIDED_BY: verdict.decided_by},
    )


def was_denied(outcome: Outcome) -> bool:
    """Whether the outcome is such a denial, and not a provider's permission_denied."""
    return (
        isinstance(outcome, Failure)
        and outcome.category is ErrorCategory.PERMISSION_DENIED
        and outcome.details is not None
        and _DECIDED_BY in outcome.details
    )
