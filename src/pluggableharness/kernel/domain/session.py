"""How sessions end."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

BY_HAND: Final = "person"
"""What stands where the model does in the record of a call that a person made by hand (K4)."""


class SessionStatus(Enum):
    """The state of a session; every value but RUNNING is an end."""

    RUNNING = "running"
    COMPLETED = "completed"
    ERROR_MAX_TURNS = "error_max_turns"
    ERROR_MAX_BUDGET_USD = "error_max_budget_usd"
    ERROR_MAX_WALL_CLOCK = "error_max_wall_clock"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """A session's end: its status, the reason in words, and its final text."""

    session_id: str
    status: SessionStatus
    reason: str = ""
    final_text: str = ""
