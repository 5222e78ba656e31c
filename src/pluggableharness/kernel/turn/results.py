"""The one result of every call of a message, whatever becomes of it (K2)."""

from collections.abc import Sequence

from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.message import Message, Role, ToolResult
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.verdict import Verdict


class Results:
    """Collects outcomes as they come and hands them back in the model's order.

    The outcome of a call's last attempt stands. What has none when a turn is cut short was
    never sent, and `missing` names it, so that it can be filed and filled.
    """

    def __init__(self, calls: Sequence[Call | RefusedCall]) -> None:
        self._outcomes: dict[str, Outcome] = {}
        self._edited: dict[str, str] = {}
        self.refuse(calls)

    def refuse(self, calls: Sequence[Call | RefusedCall]) -> None:
        """Take the calls as they are by now: what is refused has its outcome."""
        self._calls = calls
        self._outcomes |= {call.id: call.failure for call in calls if isinstance(call, RefusedCall)}

    def settle(self, call: Call, outcome: Outcome) -> None:
        """Note how the call, or the latest attempt at it, ended."""
        self._outcomes[call.id] = outcome

    def decided(self, call: Call, verdict: Verdict) -> None:
        """Note what a person changed of the call before it was decided about (K10)."""
        self._edited[call.id] = verdict.edited

    def edited(self, call: Call) -> str:
        """What a person changed of it, for the model; "" for nothing."""
        return self._edited.get(call.id, "")

    @property
    def missing(self) -> list[Call]:
        """The calls without an outcome, in the model's order."""
        return [
            call for call in self._calls if isinstance(call, Call) and call.id not in self._outcomes
        ]

    def message(self) -> Message:
        """The entry of the history that answers the model's message; no call is missing."""
        return Message(
            Role.USER,
            tuple(
                ToolResult(
                    call.tool_use_id,
                    _name(call),
                    self._outcomes[call.id],
                    self._edited.get(call.id, ""),
                )
                for call in self._calls
            ),
        )

    def outcome(self, call: Call) -> Outcome | None:
        """How the call ended; None while it has not."""
        return self._outcomes.get(call.id)


def _name(call: Call | RefusedCall) -> str:
    return call.operation.full_name if isinstance(call, Call) else call.name
