"""How a call can end, and what may come before that."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.values import JsonObject


class ErrorCategory(Enum):
    """The nine ways to fail (P15)."""

    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    EXECUTION_FAILED = "execution_failed"
    TIMEOUT = "timeout"
    CONCURRENCY_CONFLICT = "concurrency_conflict"
    CANCELLED = "cancelled"
    PROCESS_CRASHED = "process_crashed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Success:
    """A result whose payload conforms to the operation's output schema."""

    payload: JsonObject

    @property
    def went_well(self) -> bool:
        """Whether the program that it tells of, if any, ended with 0; else it is a result too.

        An `exit_code` of a payload tells of one, whichever operation it is from: providers are
        told so, and a record holds nothing else of it (P13).
        """
        code = self.payload.get("exit_code")
        return code == 0 or not isinstance(code, (int, float))


@dataclass(frozen=True, slots=True)
class Failure:
    """An error (P15, P16). `message` is for person and model alike: what failed, on what, why."""

    category: ErrorCategory
    message: str
    retryable: bool = False
    details: JsonObject | None = None


Outcome = Success | Failure
"""What a call came to: exactly one for every call (K2)."""


NEVER_SENT = Failure(
    ErrorCategory.CANCELLED, "The turn was interrupted before this call was sent; nothing ran."
)
"""How a call ends that a cancelled turn had not come to."""

LEFT_OPEN = Failure(
    ErrorCategory.UNKNOWN,
    "The kernel ended while this call ran: it may have had its effect in whole, in part or not "
    "at all. Look before doing it again.",
)
"""How a call ends of which the record has the intent and no outcome (K27)."""


class OutputStream(Enum):
    """Where a child process wrote."""

    STDOUT = "stdout"
    STDERR = "stderr"


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """Raw bytes of a child's output, cut anywhere, in order of arrival."""

    stream: OutputStream
    data: bytes


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is; `fraction` is within 0..1 or None when nobody knows."""

    message: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class PartialResult:
    """Structured output that is there before the result."""

    payload: JsonObject


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a child process ended; `signal` is a name such as SIGKILL."""

    exit_code: int
    signal: str | None = None


LeadUp = OutputChunk | Progress | PartialResult | ExitStatus
"""An event of a call's stream before the terminal one (P10)."""
