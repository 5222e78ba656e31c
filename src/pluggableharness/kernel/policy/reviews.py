"""What a reviewer's answer makes of a call (K8). Pure: whoever asked the reviewer brings it."""

import json
from dataclasses import dataclass, replace

from pluggableharness.kernel.domain.verdict import Decision, Review, Verdict

_LONGEST_REASON = 2_000


@dataclass(frozen=True, slots=True)
class Opinion:
    """A reviewer's answer; `decision` None is none: late, failed, or not to be understood."""

    decision: Decision | None
    reason: str


def opinion(text: str) -> Opinion:
    """What a reviewer said: a JSON object with `decision` and `reason`, and nothing beside it."""
    try:
        said = json.loads(text.strip().removeprefix("```json").removesuffix("```"))
        decision = Decision(said["decision"])
        reason = said.get("reason", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Opinion(None, "its answer is no JSON object with a decision: allow, ask or deny")
    if not isinstance(reason, str):
        return Opinion(None, "the reason in its answer is no text")
    return Opinion(decision, reason[:_LONGEST_REASON])


def reviewed(review: Review, given: Opinion) -> Verdict:
    """The verdict that an opinion leads to.

    An ask, and the lack of an answer, lead to what would have held without a reviewer: the
    person, or headless a denial. Whoever reads the record can tell the two from a denial.
    """
    reviewer = f"reviewer {review.reviewer}"
    if given.decision is None:
        return _otherwise(review, f"{reviewer} was unavailable: {given.reason}")
    if given.decision is Decision.ASK:
        return _otherwise(review, f"{reviewer} wants it asked: {given.reason}")
    return Verdict(given.decision, reviewer, given.reason)


def _otherwise(review: Review, why: str) -> Verdict:
    reason = "; ".join(part for part in (why, review.otherwise.reason) if part)
    return replace(review.otherwise, reason=reason)
