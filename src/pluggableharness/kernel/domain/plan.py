"""The plan: the resource calls of one message, each awaiting a decision (K9)."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.verdict import Verdict


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One resource call with what a person needs to judge it.

    kind, risk and description are those of `call.operation`, which the item carries by
    value and never looks up again (K9). `preview` is None when the provider offers none, in
    which case the arguments are shown (P29).
    """

    id: str
    call: Call
    preview: RenderNode | None
    verdict: Verdict


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


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to one plan item (K10).

    `reason` goes to the model on a denial.
    """

    allow: bool
    reason: str = ""
