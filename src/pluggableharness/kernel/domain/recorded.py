"""What a record gives back: what was once filed, as far as it was.

An operation is not among it: it belonged to the provider as it was then, and what may run
now is for the provider as it is now to say.
"""

from dataclasses import dataclass

from pluggableharness.kernel.domain.bounds import Spent
from pluggableharness.kernel.domain.call import CallContext, ProposedCall
from pluggableharness.kernel.domain.message import Message, ModelReply, ToolResult
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.outcome import LEFT_OPEN, NEVER_SENT, Failure, Outcome
from pluggableharness.kernel.domain.plan import Applied
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """A message of the history; `model` is "" when a person wrote it."""

    reply: ModelReply
    model: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The intent of a call: it was about to be sent, and may have been (K27).

    Its provider is the producer of the event.
    """

    id: str
    tool_name: str
    arguments: JsonObject
    context: CallContext


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """How a call, or an attempt at it, ended."""

    call_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """What was decided about a call, and what pairs it with the model's message.

    `name` is the operation's full name, or whatever name the model wrote when there is no
    such operation. `verdict` is None for a call that was refused before policy saw it; its
    outcome says why. `leading` is the argument by which people recognise such a call, and
    `deadline_s` the seconds that it was given.
    """

    call_id: str
    tool_use_id: str
    name: str
    idempotent: bool
    verdict: Verdict | None
    kind: Kind = Kind.DATA_SOURCE
    risk: Risk = Risk.READ_ONLY
    leading: str = ""
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedPlanItem:
    """A plan item as it was shown (K9)."""

    id: str
    call_id: str
    provider: str
    tool_name: str
    arguments: JsonObject
    kind: Kind
    risk: Risk
    description: str
    preview: RenderNode | None
    decision: Decision
    decided_by: str


@dataclass(frozen=True, slots=True)
class RecordedPlan:
    """The items of one message, in the model's order."""

    turn_id: str
    items: tuple[RecordedPlanItem, ...]


@dataclass(frozen=True, slots=True)
class RecordedApplyItem:
    """A plan item's end."""

    item_id: str
    call_id: str
    applied: Applied
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class RecordedApply:
    """The end of every item of a plan."""

    turn_id: str
    items: tuple[RecordedApplyItem, ...]


@dataclass(frozen=True, slots=True)
class RecordedUse:
    """A call of a message, as far as the record tells.

    `call_id` is "" when the kernel ended before it made a call of what the model wrote.
    `outcome` is None when none was filed; `sent` then says whether it may have run. `edited` says
    what a person changed of it, and `ran` holds the arguments with which it was last sent.
    """

    proposed: ProposedCall
    call_id: str = ""
    name: str = ""
    sent: bool = False
    idempotent: bool = False
    outcome: Outcome | None = None
    edited: str = ""
    ran: JsonObject | None = None

    @property
    def unknown(self) -> Failure:
        """What can be said of it where no outcome was filed (K27)."""
        return LEFT_OPEN if self.sent else NEVER_SENT

    @property
    def result(self) -> ToolResult:
        """What the model is told of it."""
        told = self.outcome or self.unknown
        return ToolResult(self.proposed.tool_use_id, self.name, told, self.edited)


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """The last message of a history, some of whose calls have no outcome."""

    message: Message
    uses: tuple[RecordedUse, ...]


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """What is needed to go on with a session (K30).

    `history` holds whole turns, every call with its result; `left` is the turn that was cut
    short behind them, if there is one. `warnings` say what was found amiss.
    """

    history: tuple[Message, ...]
    left: RecordedTurn | None
    spent: Spent
    warnings: tuple[str, ...] = ()
