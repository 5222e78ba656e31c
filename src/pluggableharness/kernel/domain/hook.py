"""Hooks: where a provider may watch a session, change a request to the model, or forbid (K25).

Each point has a payload; which point a payload belongs to, its type says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.message import Message, Usage
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.plan import ApplyItem, Plan
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.verdict import Verdict


class HookPoint(Enum):
    """The eight points; the values are the words of `agent.hcl`."""

    SESSION_START = "session-start"
    PRE_MODEL_CALL = "pre-model-call"
    POST_MODEL_RESPONSE = "post-model-response"
    PRE_TOOL_CALL = "pre-tool-call"
    PLAN_READY = "plan-ready"
    POST_TOOL_CALL = "post-tool-call"
    POST_APPLY = "post-apply"
    SESSION_END = "session-end"


class HookMode(Enum):
    """What a subscriber may do: look, return the payload changed, or say no."""

    OBSERVE = "observe"
    TRANSFORM = "transform"
    VETO = "veto"


class HookTrouble(Enum):
    """In what way a subscriber failed."""

    TRANSFORM_FAILED = "transform_failed"
    VETO_FAILED = "veto_failed"
    TIMEOUT = "timeout"
    INVALID_RESPONSE = "invalid_response"
    PROCESS_CRASHED = "process_crashed"
    UNKNOWN = "unknown"


HOOK_TIMEOUT_S = 5.0
"""How long a subscriber may take when nothing else is configured (K26)."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One provider at one point. `id` tells several of the same provider apart; "" for one."""

    point: HookPoint
    provider: str
    mode: HookMode
    timeout_s: float = HOOK_TIMEOUT_S
    id: str = ""


@dataclass(frozen=True, slots=True)
class AtSessionStart:
    """A session begins; `parent` is "" for one that a person started."""

    session_id: str
    profile: str
    parent: str
    working_directory: str


@dataclass(frozen=True, slots=True)
class BeforeModel:
    """The model is about to be asked. The messages are the one thing that may be changed."""

    messages: Sequence[Message]
    model: str


@dataclass(frozen=True, slots=True)
class AfterModel:
    """The model has answered."""

    message: Message
    model: str
    usage: Usage
    cost_usd: float


@dataclass(frozen=True, slots=True)
class BeforeCall:
    """A call with valid arguments, before policy sees it."""

    call: Call


@dataclass(frozen=True, slots=True)
class PlanMade:
    """A plan on which policy has spoken, and no person yet."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class AfterCall:
    """A call has ended, whether it ran or not."""

    call: Call
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class AfterApply:
    """Every item of a plan has ended."""

    turn_id: str
    items: Sequence[ApplyItem]


@dataclass(frozen=True, slots=True)
class AtSessionEnd:
    """A session has ended."""

    session_id: str
    status: SessionStatus


HookPayload = (
    AtSessionStart
    | BeforeModel
    | AfterModel
    | BeforeCall
    | PlanMade
    | AfterCall
    | AfterApply
    | AtSessionEnd
)
"""What a hook is told."""

POINTS: dict[type[HookPayload], HookPoint] = {
    AtSessionStart: HookPoint.SESSION_START,
    BeforeModel: HookPoint.PRE_MODEL_CALL,
    AfterModel: HookPoint.POST_MODEL_RESPONSE,
    BeforeCall: HookPoint.PRE_TOOL_CALL,
    PlanMade: HookPoint.PLAN_READY,
    AfterCall: HookPoint.POST_TOOL_CALL,
    AfterApply: HookPoint.POST_APPLY,
    AtSessionEnd: HookPoint.SESSION_END,
}
"""The point of each type of payload."""

FORBIDDABLE = frozenset(
    {
        HookPoint.SESSION_START,
        HookPoint.PRE_MODEL_CALL,
        HookPoint.PRE_TOOL_CALL,
        HookPoint.PLAN_READY,
    }
)
"""The points at which there is still something to forbid."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """A subscriber's answer: the payload as it left it, and whether it has no objection."""

    payload: HookPayload
    allows: bool = True


@dataclass(frozen=True, slots=True)
class HookEnd:
    """What came of all subscribers of a point; `denied` holds who forbade it and why."""

    payload: HookPayload
    denied: Verdict | None = None


class HookFailed(Exception):
    """A subscriber failed; `trouble` says in what way."""

    def __init__(self, trouble: HookTrouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
