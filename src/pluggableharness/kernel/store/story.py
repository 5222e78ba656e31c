"""A recorded session as the news that it once was (K30).

From the rows alone: nothing is run, asked or written, and no provider is needed. Told is what
is recorded: output, progress and text as it streamed are not, and what the kernel never said
because it was interrupted, the end of a cancelled call say, is told here all the same.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pluggableharness.kernel.codec.record_facts import read_ended, read_facts
from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.event import Event, EventKind
from pluggableharness.kernel.domain.message import ModelReply, Role
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallRefused,
    CallStarted,
    ItemDecided,
    MessageArrived,
    News,
    Notice,
    PlanApplied,
    PlanReady,
    SessionEnded,
    SessionStarted,
)
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import Failure
from pluggableharness.kernel.domain.plan import ApplyItem, Plan, PlanItem
from pluggableharness.kernel.domain.recorded import (
    RecordedApply,
    RecordedCall,
    RecordedDecision,
    RecordedOutcome,
    RecordedPlan,
    RecordedPlanItem,
)
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.store.stretches import Facts, Row, Stretch, stretches


@dataclass(frozen=True, slots=True)
class Prompted:
    """A person's message, which no frontend hears: whoever watches has written it."""

    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """A piece of the story and when its row was filed, in microseconds since 1970."""

    time: int
    piece: News | Prompted


def story(events: Iterable[Event]) -> Iterator[Told]:
    """The news of a session, in the order of its rows.

    `events` are a log's, from its first on. Raises ValueError for rows that the kernel did
    not write; those of providers are passed over.
    """
    session_id, directory = "", ""
    for stretch in stretches(events):
        first, message = stretch.rows[0].event, stretch.message
        if first.kind == EventKind.SESSION:
            facts = read_facts(first.payload)
            session_id = str(facts.get("session_id", session_id))
            directory = str(facts.get("working_directory", directory))
        if message is not None and message.role is Role.USER:
            yield Told(first.time, Prompted(message.text))
        yield from _Turn(session_id, directory, stretch.reply).told(stretch)


@dataclass(slots=True)
class _Turn:
    """One stretch: what its rows say about each call, gathered before anything is told."""

    session_id: str
    directory: str
    reply: ModelReply | None
    pairs: dict[str, RecordedDecision] = field(default_factory=dict)
    policy: dict[str, Verdict] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    items: dict[str, PlanItem] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)

    def told(self, stretch: Stretch) -> Iterator[Told]:
        """The news of the stretch."""
        for row in stretch.rows:
            self._gather(row)
        for row in stretch.rows:
            for news in self._news(row.event, row.facts):
                yield Told(row.event.time, news)

    def _gather(self, row: Row) -> None:
        """Note what a row says."""
        match row.facts:
            case RecordedDecision() as facts:
                self.pairs[facts.call_id] = facts
                if facts.verdict is not None:
                    self.policy.setdefault(facts.call_id, facts.verdict)
            case RecordedOutcome() as facts:
                self.last[facts.call_id] = row.event.sequence
            case _:
                pass

    def _news(self, event: Event, facts: Facts | None) -> Iterable[News]:
        match facts:
            case RecordedCall():
                return self._sent(facts, event.producer.name)
            case RecordedOutcome():
                return self._ended(facts, event.sequence)
            case RecordedDecision():
                return self._decided(facts)
            case RecordedPlan():
                return (PlanReady(self._plan(facts)),)
            case RecordedApply():
                return (self._applied(facts),)
            case _:
                pass
        if event.kind == EventKind.SESSION:
            return self._session(event)
        reply = self.reply if event.kind == EventKind.MESSAGE else None
        if reply is not None and reply.message.role is Role.ASSISTANT:
            said = reply.message
            return (MessageArrived(said.id, said, reply.usage, reply.cost_usd),)
        return ()

    def _applied(self, applied: RecordedApply) -> PlanApplied:
        ends = [
            ApplyItem(self.items[end.item_id], end.applied, end.outcome)
            for end in applied.items
            if end.item_id in self.items
        ]
        return PlanApplied(applied.turn_id, tuple(ends))

    def _sent(self, call: RecordedCall, provider: str) -> Iterator[News]:
        """A call's first attempt, with the arguments that ran: a person may have edited what was
        planned. The later ones were never news."""
        if call.id not in self.started and self._pair(call.id).kind is not Kind.INTERACTIVE:
            self.started.add(call.id)
            planned = self._call(call.id, provider, call.tool_name, call.arguments, call.context)
            made = self.calls[call.id] = replace(planned, arguments=call.arguments)
            for item in self.items.values():
                if item.call.id == call.id:
                    self.items[item.id] = replace(item, call=made)
            yield CallStarted(made)

    def _ended(self, ended: RecordedOutcome, sequence: int) -> Iterator[News]:
        """How the last attempt ended, or what was refused."""
        if self.last[ended.call_id] != sequence:
            return
        pair = self.pairs.get(ended.call_id)
        if pair is not None and pair.verdict is None and isinstance(ended.outcome, Failure):
            yield CallRefused(self._turn_id, self._refused(pair, ended.outcome))
        elif ended.call_id in self.calls:
            yield CallEnded(self.calls[ended.call_id], ended.outcome)
        elif pair is not None:
            yield CallEnded(self._unsent(pair), ended.outcome)

    def _decided(self, decision: RecordedDecision) -> Iterator[News]:
        verdict = decision.verdict
        if not self.items:
            return
        item = next((i for i in self.items.values() if i.call.id == decision.call_id), None)
        if item is not None and verdict is not None and verdict.decision is not Decision.ASK:
            decided = replace(item, verdict=verdict)
            self.items[item.id] = decided
            yield ItemDecided(decided, verdict)

    def _plan(self, plan: RecordedPlan) -> Plan:
        items = tuple(self._item(item, plan.turn_id) for item in plan.items)
        self.items.update((item.id, item) for item in items)
        return Plan(plan.turn_id, items)

    def _item(self, raw: RecordedPlanItem, turn_id: str) -> PlanItem:
        context = CallContext(self.session_id, turn_id, self.directory)
        call = self._call(raw.call_id, raw.provider, raw.tool_name, raw.arguments, context)
        operation = replace(
            call.operation, kind=raw.kind, risk=raw.risk, description=raw.description
        )
        self.calls[call.id] = call = replace(call, operation=operation)
        bare = Verdict(raw.decision, raw.decided_by)
        return PlanItem(raw.id, call, raw.preview, self.policy.get(call.id, bare))

    def _call(
        self, call_id: str, provider: str, name: str, arguments: JsonObject, context: CallContext
    ) -> Call:
        """The call as far as it is known; what is known of it already stays."""
        if call_id not in self.calls:
            pair = self._pair(call_id)
            operation = _operation(provider, name, pair.kind, pair.risk, pair.leading)
            self.calls[call_id] = Call(
                call_id, operation, arguments, context, pair.tool_use_id, pair.deadline_s
            )
        return self.calls[call_id]

    def _pair(self, call_id: str) -> RecordedDecision:
        return self.pairs.get(call_id) or RecordedDecision(call_id, "", "", False, None)

    def _unsent(self, pair: RecordedDecision) -> Call:
        provider, _, name = pair.name.partition(".")
        context = CallContext(self.session_id, self._turn_id, self.directory)
        written = self._proposed(pair).arguments
        arguments = {} if isinstance(written, str) else written
        return self._call(pair.call_id, provider, name, arguments, context)

    def _refused(self, pair: RecordedDecision, failure: Failure) -> RefusedCall:
        arguments = self._proposed(pair).arguments
        return RefusedCall(pair.call_id, pair.tool_use_id, pair.name, arguments, failure)

    def _proposed(self, pair: RecordedDecision) -> ProposedCall:
        calls = self.reply.message.calls if self.reply else ()
        found = (call for call in calls if call.tool_use_id == pair.tool_use_id)
        return next(found, ProposedCall(pair.tool_use_id, pair.name, {}))

    @property
    def _turn_id(self) -> str:
        return self.reply.message.id if self.reply else ""

    def _session(self, event: Event) -> Iterator[News]:
        facts = read_facts(event.payload)
        match facts.get("event"):
            case "started" | "resumed":
                yield SessionStarted(self.session_id, self.directory, str(facts.get("model", "")))
            case "recovered" | "notice":
                level = str(facts.get("level", "warning"))
                yield Notice(level, str(facts.get("message", "")))
            case "ended":
                yield SessionEnded(read_ended(self.session_id, facts), event.hash.hex())
            case _:
                pass


@lru_cache(maxsize=1024)
def _operation(provider: str, name: str, kind: Kind, risk: Risk, leading: str) -> Operation:
    """An operation with what the record knows of it; its schemas are not there."""
    schema = Schema(SchemaType.OBJECT, required=(leading,) if leading else ())
    return Operation(provider, name, kind, risk, "", schema, schema)
