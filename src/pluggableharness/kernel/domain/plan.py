"""The plan: the resource calls of one message, each awaiting a decision (K9)."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Scope:
    """What an answer that lasts would cover (K10).

    `covers` says it to a person, `when` is the condition of the rule that it becomes, "" for
    every call of the operation, and `rule` is the text that "always" would write.
    """

    covers: str
    when: str
    rule: str


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One resource call with what a person needs to judge it.

    kind, risk and description are those of `call.operation`, which the item carries by
    value and never looks up again (K9). `preview` is None when the provider offers none, in
    which case the arguments are shown (P29). `scopes` are what an answer to it may cover
    beyond this call, the usual one first; none when it can be for this call alone. `written` are
    the model's own arguments where a person has edited them, else None. `shown` is what the
    arguments were when the item was built, as text: approved is that, whatever becomes of them.
    """

    id: str
    call: Call
    preview: RenderNode | None
    verdict: Verdict
    scopes: tuple[Scope, ...] = ()
    written: JsonObject | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The items of one message, in the model's order."""

    turn_id: str
    items: tuple[PlanItem, ...]


class Applied(Enum):
    """What became of a plan item."""

    APPLIED = "applied"
    FAILED = "failed"
    DENIED = "denied"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class ApplyItem:
    """A plan item's end."""

    item: PlanItem
    applied: Applied
    outcome: Outcome


class Lasting(Enum):
    """How long an answer holds."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to one plan item (K10).

    `reason` goes to the model on a denial. `arguments` are set when the person edited them:
    then nothing runs yet, and the call comes back as edited. `scope` is one of the item's when
    an allow lasts longer than once.
    """

    allow: bool
    reason: str = ""
    arguments: JsonObject | None = None
    lasting: Lasting = Lasting.ONCE
    scope: Scope | None = None
