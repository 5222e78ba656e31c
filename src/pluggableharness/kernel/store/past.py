"""What a session came to, from its rows: the history, what it spent, and what was cut short.

Every call of the history gets its one result, whatever the kernel was doing when it ended
(K27). Which calls are open, and what to do about them, is the session's matter.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.kernel.codec.json_text import unicode_text
from pluggableharness.kernel.codec.record_facts import read_facts
from pluggableharness.kernel.domain.bounds import Spent
from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.event import Event, EventKind
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role, Usage
from pluggableharness.kernel.domain.outcome import NEVER_SENT, Outcome
from pluggableharness.kernel.domain.recorded import (
    RecordedCall,
    RecordedDecision,
    RecordedOutcome,
    RecordedSession,
    RecordedTurn,
    RecordedUse,
)
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.reading import read_events, read_spent
from pluggableharness.kernel.store.stretches import Row, stretches


def read_session(path: Path) -> RecordedSession:
    """What a log holds of its session. Raises LogUnreadable."""
    cost_usd, usage = read_spent(path)
    try:
        return recorded_session(read_events(path), cost_usd, usage)
    except ValueError as error:
        raise LogUnreadable(
            path, f"a row is not as the kernel writes them ({error}). See `harness sessions verify`"
        ) from error


def recorded_session(
    events: Iterable[Event], cost_usd: float, usage: Usage = NOTHING_USED
) -> RecordedSession:
    """What a log holds of a session; `cost_usd` and `usage` are what its ledger says.

    Raises ValueError for rows that the kernel did not write.
    """
    history: list[Message] = []
    warnings: list[str] = []
    left: RecordedTurn | None = None
    turns, clock = 0, _Clock()
    for stretch in stretches(clock.watched(events)):
        if left is not None:
            history += [left.message, _results(left.uses)]
        traces, stray = _traces(stretch.rows)
        warnings += [f"The result of an unknown call {call_id} is left out." for call_id in stray]
        message, left = stretch.message, None
        if message is None:
            continue
        turns += message.role is Role.ASSISTANT and not message.interrupted
        uses = _uses(message, traces)
        if any(use.outcome is None for use in uses):
            left = RecordedTurn(message, uses)
        else:
            history += [message, _results(uses)] if uses else [message]
    spent = Spent(turns, cost_usd, clock.seconds, usage)
    return RecordedSession(tuple(history), left, spent, tuple(warnings))


@dataclass(slots=True)
class _Trace:
    """What the rows say of one call; an intent takes back what an earlier attempt came to."""

    decision: RecordedDecision
    ran: JsonObject | None = None
    outcome: Outcome | None = None
    edited: str = ""


def _traces(rows: Sequence[Row]) -> tuple[dict[str, _Trace], list[str]]:
    """The calls of a stretch by their ids, and the ids of those that only have results."""
    traces: dict[str, _Trace] = {}
    stray: list[str] = []
    for row in rows:
        match row.facts:
            case RecordedDecision() as decision:
                trace = traces.setdefault(decision.call_id, _Trace(decision))
                trace.edited = (decision.verdict and decision.verdict.edited) or trace.edited
            case RecordedCall(id=call_id, arguments=arguments) if call_id in traces:
                traces[call_id].ran, traces[call_id].outcome = arguments, None
            case RecordedOutcome() as ended:
                if ended.call_id in traces:
                    traces[ended.call_id].outcome = ended.outcome
                elif ended.outcome != NEVER_SENT:
                    stray.append(ended.call_id)
            case _:
                pass
    return traces, stray


def _uses(message: Message, traces: Mapping[str, _Trace]) -> tuple[RecordedUse, ...]:
    """The message's calls with what became of them, in its order."""
    left = list(traces.values())
    return tuple(_use(proposed, left) for proposed in message.calls)


def _use(proposed: ProposedCall, left: list[_Trace]) -> RecordedUse:
    """Takes its trace out of those that are left: a model may use an id twice."""
    for place, trace in enumerate(left):
        if trace.decision.tool_use_id == unicode_text(proposed.tool_use_id):
            decision = left.pop(place).decision
            return RecordedUse(
                proposed,
                decision.call_id,
                decision.name,
                trace.ran is not None,
                decision.idempotent,
                trace.outcome,
                trace.edited,
                trace.ran,
            )
    return RecordedUse(proposed, name=proposed.name)


def _results(uses: Sequence[RecordedUse]) -> Message:
    """The entry that answers a message."""
    return Message(Role.USER, tuple(use.result for use in uses))


class _Clock:
    """Adds up how long a session ran, from the times of its rows.

    A clock that was set back counts for nothing, and the time between a crash and the
    last row before it is not known.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last: int | None = None

    def watched(self, events: Iterable[Event]) -> Iterator[Event]:
        """The same events, counted as they pass."""
        for event in events:
            if self._last is not None and not (event.kind == EventKind.SESSION and _begins(event)):
                self.seconds += max(event.time - self._last, 0) / 1e6
            self._last = event.time
            yield event


def _begins(event: Event) -> bool:
    """Whether a session begins or goes on here: what lies between does not count."""
    return read_facts(event.payload).get("event") in ("recovered", "resumed")
