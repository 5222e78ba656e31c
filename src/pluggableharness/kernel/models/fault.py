"""Why a model has no next message, and what that means for asking again (K21, F10)."""

from enum import Enum

from pluggableharness.kernel.domain.errors import ModelFailed


class FaultKind(Enum):
    """What is to be done about a fault.

    PASSING may be gone in a moment. TOO_LONG is for a model with a larger window. HOPELESS is
    the same whenever this model is asked; another may still do it.
    """

    PASSING = "passing"
    TOO_LONG = "too_long"
    HOPELESS = "hopeless"


class ModelFault(ModelFailed):
    """One asking of one model came to nothing.

    The message says what failed, and what a person can do. `retry_after_s` is how long the
    vendor wants to be left alone, in seconds; None when it does not say. `unreached` says that
    not even a connection came about.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        retry_after_s: float | None = None,
        unreached: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.unreached = unreached
