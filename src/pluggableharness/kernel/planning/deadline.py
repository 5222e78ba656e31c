"""How long a call may take (K14)."""

from pluggableharness.kernel.domain.operation import Kind, Operation

_DEFAULT_S = 120.0
"""Seconds for an operation that declares nothing."""


def deadline_s(operation: Operation, given: float | None = None) -> float | None:
    """Seconds from the send of Invoke: what a person gave, else declared, else 120.

    `given` comes from agent.hcl or the command line. None, for an interactive call to which
    nobody gave one, is no limit: a person may take their time.
    """
    if given is not None or operation.kind is Kind.INTERACTIVE:
        return given
    return operation.default_timeout_s or _DEFAULT_S
