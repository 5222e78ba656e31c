"""What policy and people decide about a call."""

from dataclasses import dataclass
from enum import Enum


class Decision(Enum):
    """The three answers of policy; ASK waits for a person."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision and where it came from.

    `decided_by` names the rule ("rule NAME"), the default ("default for resource"), the
    person ("person") or the mode ("--allow-all"); `reason` is for the model and the record;
    `downgraded_from` holds the decision that policy gave when it could not be honoured (K6,
    and K10 when nobody is there to ask).
    """

    decision: Decision
    decided_by: str
    reason: str = ""
    downgraded_from: Decision | None = None
