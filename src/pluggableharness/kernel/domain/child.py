"""A child session as a provider asks for it, and what its caller hears of it (K22, K23)."""

from dataclasses import dataclass

from pluggableharness.kernel.domain.message import NOTHING_USED, Usage
from pluggableharness.kernel.domain.outcome import ErrorCategory
from pluggableharness.kernel.domain.session import SessionStatus


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """What is asked for; it may only lower what the kernel would grant.

    `callers` are the ids of the calls that wait for the child. `providers` narrows its tools
    to theirs, none leaves them. `depth` and `cost_usd` are None when not given.
    """

    profile: str
    prompt: str
    parent: str
    callers: frozenset[str]
    providers: tuple[str, ...] = ()
    depth: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How it ended: its last words, and what it spent with its own children."""

    session_id: str
    status: SessionStatus
    final_text: str
    cost_usd: float = 0.0
    usage: Usage = NOTHING_USED


class ChildRefused(Exception):
    """There is no such child to be had, or it broke off; `category` says in what way."""

    def __init__(self, category: ErrorCategory, message: str) -> None:
        super().__init__(message)
        self.category = category
