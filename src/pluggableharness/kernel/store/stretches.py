"""The rows of a session by messages, without what providers emitted in its place.

Turns of one session may run at the same time, where its calls come from outside (K34): then
their rows lie between each other, and each belongs to the message whose call it is about.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pluggableharness.kernel.codec.json_text import unicode_text
from pluggableharness.kernel.codec.record import read_apply, read_call, read_outcome, read_plan
from pluggableharness.kernel.codec.record_facts import read_decision
from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.domain.event import Event, EventKind
from pluggableharness.kernel.domain.message import Message, ModelReply, Role
from pluggableharness.kernel.domain.recorded import (
    RecordedApply,
    RecordedCall,
    RecordedDecision,
    RecordedOutcome,
    RecordedPlan,
)

Facts = RecordedCall | RecordedOutcome | RecordedDecision | RecordedPlan | RecordedApply

_READERS: dict[str, Callable[[bytes], Facts]] = {
    EventKind.TOOL_CALL: read_call,
    EventKind.TOOL_RESULT: read_outcome,
    EventKind.DECISION: read_decision,
    EventKind.PLAN: read_plan,
    EventKind.APPLY: read_apply,
}
_OF_CALLS = (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)


@dataclass(frozen=True, slots=True)
class Row:
    """An event with what it says about a call or a plan; None for what says nothing of either."""

    event: Event
    facts: Facts | None


@dataclass(slots=True)
class Stretch:
    """A message with all rows about its calls; before the first message, what stands there."""

    reply: ModelReply | None = None
    rows: list[Row] = field(default_factory=list)
    paired: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    plans: int = 0

    @property
    def message(self) -> Message | None:
        """The message, without what it cost."""
        return None if self.reply is None else self.reply.message

    @property
    def over(self) -> bool:
        """Whether no row about its calls is to come."""
        calls = len(self.message.calls) if self.message is not None else 0
        return len(self.ended) >= calls and self.plans <= 0

    def takes(self, tool_use_id: str) -> bool:
        """Whether one of its calls has this id and is not paired yet: a model may use it twice."""
        calls = self.message.calls if self.message is not None else ()
        written = sum(unicode_text(call.tool_use_id) == tool_use_id for call in calls)
        return written > sum(paired == tool_use_id for paired in self.paired.values())

    def add(self, row: Row) -> None:
        """Take a row of its own."""
        self.rows.append(row)
        match row.facts:
            case RecordedDecision():
                self.paired[row.facts.call_id] = row.facts.tool_use_id
            case RecordedCall():
                self.ended.discard(row.facts.id)
            case RecordedOutcome() if row.facts.call_id in self.paired:
                self.ended.add(row.facts.call_id)
            case RecordedPlan():
                self.plans += 1
            case RecordedApply():
                self.plans -= 1
            case _:
                pass


def stretches(events: Iterable[Event]) -> Iterator[Stretch]:
    """Every message in order, with all rows about its calls.

    A provider may emit rows of the same kinds as the kernel's, about anything, but for those
    of calls: these are the kernel's own, whoever is their producer. Raises ValueError for rows
    that the kernel did not write.
    """
    going: list[Stretch] = []
    for event in events:
        kernels = event.producer.category == "kernel"
        if event.kind == EventKind.MESSAGE and kernels:
            reply = read_message(event.payload).reply
            yield from _over(going, reply.message.role)
            going.append(Stretch(reply, [Row(event, None)]))
        elif kernels or event.kind in _OF_CALLS:
            reader = _READERS.get(event.kind)
            row = Row(event, None if reader is None else reader(event.payload))
            going = going or [Stretch()]
            _home(going, row).add(row)
    yield from going


def _over(going: list[Stretch], speaker: Role) -> Iterator[Stretch]:
    """Those to which nothing more can come; a user speaks only when no turn runs."""
    while going and (speaker is Role.USER or going[0].over):
        yield going.pop(0)


def _home(going: list[Stretch], row: Row) -> Stretch:
    """The stretch that a row belongs to; the last where it is about none's call or turn."""
    last = going[-1]
    if len(going) == 1:
        return last
    match row.facts:
        case RecordedDecision(call_id=call_id, tool_use_id=tool_use_id):
            known = next((one for one in going if call_id in one.paired), None)
            return known or next((one for one in going if one.takes(tool_use_id)), last)
        case RecordedCall(id=call_id) | RecordedOutcome(call_id=call_id):
            return next((one for one in going if call_id in one.paired), last)
        case RecordedPlan(turn_id=turn_id) | RecordedApply(turn_id=turn_id):
            return next((one for one in going if one.message and one.message.id == turn_id), last)
        case _:
            return last
