"""What policy and people decide about a call."""

from dataclasses import dataclass
from enum import Enum


class Decision(Enum):
    """The three answers of policy; ASK waits for a person."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who judges a call in a person's place (K8): a model profile's name, or an executable."""

    profile: str = ""
    command: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The reviewer as people and the record name it."""
        return self.profile or " ".join(self.command) or "nobody"


@dataclass(frozen=True, slots=True)
class Review:
    """A call is to be put to a reviewer before anyone else; `otherwise` holds without an answer.

    Where the reviewer's allow is not `enough`, `otherwise` holds for that as well (K5a).
    """

    reviewer: Reviewer
    otherwise: "Verdict"
    enough: bool = True


class Opined(Enum):
    """What came of asking a reviewer; UNAVAILABLE is no denial but the lack of an answer (K8)."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Opinion:
    """A reviewer's answer and its reason, or why there is none."""

    answer: Opined
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision and where it came from.

    `decided_by` names the rule ("rule NAME"), the default ("default for resource"), the
    person ("person") or the mode ("--allow-all"); `reason` is for the model and the record;
    `downgraded_from` holds the decision that policy gave when it could not be honoured (K6,
    and K10 when nobody is there to ask). With a `review` the decision is ASK, and a reviewer is
    asked first, whoever else is there (K8). `edited` says what a person changed of the arguments
    that the model wrote, before the decision (K10); `opinion` is what a reviewer said of the call.
    """

    decision: Decision
    decided_by: str
    reason: str = ""
    downgraded_from: Decision | None = None
    review: Review | None = None
    edited: str = ""
    opinion: Opinion | None = None
