"""What a running call may ask of the kernel, as the SDK's core sees it.

`Context` calls this Protocol; `serving` implements it over gRPC and `testing` in memory. Knows
nothing of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

LogLevel = Literal["trace", "debug", "info", "warn", "error", "fatal"]

EventKind = Literal[
    "message",
    "tool_call",
    "tool_result",
    "plan",
    "apply",
    "context_contribution",
    "memory_write",
    "memory_update",
    "memory_delete",
    "hook_error",
]

SessionStatus = Literal[
    "running",
    "completed",
    "error_max_turns",
    "error_max_budget_usd",
    "error_max_wall_clock",
    "cancelled",
    "failed",
]


class CallRef(Struct, frozen=True):
    """Which call asks: the kernel files under it what it gets."""

    call_id: str
    session_id: str
    turn_id: str = ""


class Emitted(Struct, frozen=True):
    """Where the kernel's log holds an emitted event."""

    id: str
    sequence: int


class SessionOutcome(Struct, frozen=True):
    """How a child session ended; only its final message comes back (K22)."""

    session_id: str
    status: SessionStatus
    final_message: str
    cost_usd: float
    input_tokens: int
    output_tokens: int


class SessionRequest(Struct, frozen=True):
    """A child session to run. The bounds may only lower what the kernel grants (K23)."""

    profile: str
    prompt: str
    providers: Sequence[str] = ()
    """Narrows the child's tools to these providers; empty leaves the profile's."""
    max_depth: int | None = None
    max_cost_usd: float | None = None


class Callbacks(Protocol):
    """The kernel's side of a call."""

    def log(self, call: CallRef, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        """Take an entry for the kernel's log, without waiting for it to get there."""

    async def emit(
        self, call: CallRef, kind: EventKind, payload: bytes, schema_version: str
    ) -> Emitted:
        """Store an event of the call's session.

        Raises:
            KernelUnavailable: no kernel answers.
        """

    async def run_session(self, call: CallRef, request: SessionRequest) -> SessionOutcome:
        """Run a child session to its end.

        Raises:
            KernelUnavailable: no kernel answers.
            ToolFailure: the kernel refuses.
        """

    async def report_cancelled(self, call: CallRef, report: Mapping[str, Any]) -> None:
        """Tell what a cancelled call had done by the time it ended (P26)."""
