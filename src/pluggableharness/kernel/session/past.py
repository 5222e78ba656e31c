"""The history of a session as turns, for the decision whether it may go on."""

from collections.abc import Collection

from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome
from pluggableharness.kernel.planning.ends import PastCall, PastTurn
from pluggableharness.kernel.turn.denial import was_denied

_TURNS = 64
"""As far back as is looked: ends depend on a handful of calls, and a long session must not
take longer each turn."""


class Past:
    """The latest turns that had calls.

    `interactive` are the full names of the operations that ask a person (K18).
    """

    def __init__(self, interactive: Collection[str]) -> None:
        self._interactive = interactive
        self.turns: list[PastTurn] = []

    def add(self, message: Message, answer: Message) -> None:
        """Take a turn's message and the results of its calls; without calls there is nothing."""
        results = [block for block in answer.blocks if isinstance(block, ToolResult)]
        calls = message.calls
        if not calls or len(calls) != len(results):
            return
        turn = [
            PastCall(
                result.name,
                call.arguments,
                denied=was_denied(result.outcome),
                crashed=_crashed(result.outcome),
                interactive=result.name in self._interactive,
            )
            for call, result in zip(calls, results, strict=True)
        ]
        self.turns.append(turn)
        del self.turns[:-_TURNS]


def _crashed(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.category is ErrorCategory.PROCESS_CRASHED
