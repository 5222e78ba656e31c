"""What a reviewer's answer makes of a call (K8). Pure: whoever asked the reviewer brings it."""

import json
from dataclasses import replace

from pluggableharness.kernel.domain.verdict import Decision, Opined, Opinion, Review, Verdict

_LONGEST_REASON = 2_000
_ANSWERS = {one.value: Opined(one.value) for one in Decision}


def opinion(text: str) -> Opinion:
    """What a reviewer said: a JSON object with `decision` and `reason`, and nothing beside it."""
    try:
        said = json.loads(text.strip().removeprefix("```json").removesuffix("```"))
        answer = _ANSWERS[said["decision"]]
        reason = said.get("reason", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _none("its answer is no JSON object with a decision: allow, ask or deny")
    if not isinstance(reason, str):
        return _none("the reason in its answer is no text")
    return Opinion(answer, reason[:_LONGEST_REASON])


def reviewed(review: Review, given: Opinion) -> Verdict:
    """The verdict that an opinion leads to, which it goes with into the record.

    An ask, the lack of an answer, and an allow that is not enough lead to what would have held
    without a reviewer: the person, or headless a denial.
    """
    reviewer = f"reviewer {review.reviewer}"
    match given.answer:
        case Opined.ALLOW if not review.enough:
            return _otherwise(review, given, f"{reviewer} would allow it: {given.reason}")
        case Opined.ALLOW:
            return Verdict(Decision.ALLOW, reviewer, given.reason, opinion=given)
        case Opined.DENY:
            return Verdict(Decision.DENY, reviewer, given.reason, opinion=given)
        case Opined.ASK:
            return _otherwise(review, given, f"{reviewer} wants it asked: {given.reason}")
        case Opined.UNAVAILABLE:
            return _otherwise(review, given, f"{reviewer} was unavailable: {given.reason}")


def _none(why: str) -> Opinion:
    return Opinion(Opined.UNAVAILABLE, why)


def _otherwise(review: Review, given: Opinion, why: str) -> Verdict:
    reason = "; ".join(part for part in (why, review.otherwise.reason) if part)
    return replace(review.otherwise, reason=reason, opinion=given)
