"""A failure as a model reads it, whoever carries it there: a vendor's API or somebody's tool."""

from pluggableharness.kernel.codec.json_text import json_bytes, unicode_text
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure


def failure_text(failure: Failure) -> str:
    """Category and message, what the model is to do next, and the details as JSON (P15)."""
    lines = [f"{failure.category.value}: {unicode_text(failure.message)}"]
    if failure.category is ErrorCategory.INVALID_ARGUMENTS:
        lines.append("Correct this and call again.")
    if failure.details:
        lines.append(json_bytes(failure.details).decode())
    return "\n".join(lines)
