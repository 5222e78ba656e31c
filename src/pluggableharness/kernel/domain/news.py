"""What a frontend hears while a session runs.

News travels one way, from the kernel to whoever watches. A frontend that only forwards is
free to drop what it does not know.
"""

from dataclasses import dataclass

from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Usage
from pluggableharness.kernel.domain.outcome import LeadUp, Outcome
from pluggableharness.kernel.domain.plan import ApplyItem, Plan, PlanItem
from pluggableharness.kernel.domain.session import SessionEnd
from pluggableharness.kernel.domain.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session began."""

    session_id: str
    working_directory: str
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the model's text as it streams."""

    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageArrived:
    """The model's message is complete; `usage` and `cost_usd` are what it took."""

    turn_id: str
    message: Message
    usage: Usage = NOTHING_USED
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class CallRefused:
    """A proposed call did not become one."""

    turn_id: str
    refused: RefusedCall


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call was sent to its provider."""

    call: Call


@dataclass(frozen=True, slots=True)
class CallEvent:
    """An event of a running call's stream."""

    call: Call
    event: LeadUp


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call has its outcome; also for those that were denied and never ran."""

    call: Call
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PlanReady:
    """A plan was built and policy has spoken."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class ItemDecided:
    """A plan item got its final verdict for now; it may come back when things changed (K10a)."""

    item: PlanItem
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PlanApplied:
    """Every item of a plan has ended."""

    turn_id: str
    items: tuple[ApplyItem, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know that belongs to no call; `level` is info, warning or error."""

    level: str
    message: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session ended; `log_head` is the hash of the record's last row."""

    end: SessionEnd
    log_head: str = ""


OwnNews = (
    SessionStarted
    | TextDelta
    | MessageArrived
    | CallRefused
    | CallStarted
    | CallEvent
    | CallEnded
    | PlanReady
    | ItemDecided
    | PlanApplied
    | Notice
    | SessionEnded
)
"""Anything that a session may tell of itself."""


@dataclass(frozen=True, slots=True)
class FromChild:
    """News of a session below the one that is watched (K22).

    `path` names the profiles from below the watched session down to the child's own.
    """

    session_id: str
    path: tuple[str, ...]
    news: OwnNews


News = OwnNews | FromChild
"""Anything a frontend may hear."""
