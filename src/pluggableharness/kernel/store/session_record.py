"""A session's log in the session's own words: what the turn files, as rows.

It chooses kind, payload, producer and the tables beside the events; the order is the turn's.
"""

from collections.abc import Callable, Sequence

from pluggableharness.kernel.codec import record, record_facts
from pluggableharness.kernel.codec.hook import hook_error_payload
from pluggableharness.kernel.codec.json_text import JSON
from pluggableharness.kernel.codec.record import EVENT_V1
from pluggableharness.kernel.codec.record_messages import message_payload
from pluggableharness.kernel.domain.call import Call, RefusedCall
from pluggableharness.kernel.domain.event import EventKind, Producer
from pluggableharness.kernel.domain.hook import HookTrouble, Subscription
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role, Usage
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.outcome import Outcome
from pluggableharness.kernel.domain.plan import ApplyItem, Lasting, Plan, Scope
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.store.log import KERNEL, EventLog

_MOST_PROMPT = 200
"""Characters of the first prompt that stand in `session_meta`, for lists of sessions."""

ProducerOf = Callable[[str], Producer]
"""The producer that a provider's name stands for, as it was launched."""


class SessionLog:
    """The SessionRecord of `kernel.session`, over an EventLog (K27).

    The rows of a call carry the provider that it was sent to as their producer, so that it can
    be asked to render them; all else is the kernel's.
    """

    def __init__(
        self, log: EventLog, producer_of: ProducerOf, profile: str = "", parent: str = ""
    ) -> None:
        """File into `log`; `parent` is the session that started this one, "" for a person."""
        self._log = log
        self._profile = profile
        self._parent = parent
        self._producer_of = producer_of
        self._model = ""
        self._sent: set[str] = set()
        self._prompted = log.sequence > 0

    @property
    def head(self) -> str:
        """The hash of the last row, in hex (K29)."""
        return self._log.head

    def started(self, working_directory: str, model: str) -> None:
        """File the start; the model is then the producer of all that the assistant says."""
        self._model = model
        facts = record_facts.started_payload(
            self._log.session_id, working_directory, model, self._profile, self._parent
        )
        self._file(EventKind.SESSION, facts, JSON)
        if self._profile:
            self._log.put_meta("profile", self._profile)
        if self._parent:
            self._log.put_meta("parent", self._parent)
        self._log.put_meta("working_directory", working_directory)
        self._log.put_meta("model", model)
        self._log.put_meta("status", SessionStatus.RUNNING.value)

    def resumed(self, model: str) -> None:
        """File that the session goes on; the model is the producer as in `started`."""
        self._model = model
        self._file(EventKind.SESSION, record_facts.resumed_payload(model), JSON)
        self._log.put_meta("model", model)
        self._log.put_meta("status", SessionStatus.RUNNING.value)

    def instructed(self, text: str) -> None:
        """File what the model is told beside the history, from the next request on."""
        self._file(EventKind.SESSION, record_facts.instructed_payload(text), JSON)

    def ended(self, end: SessionEnd) -> None:
        """File the end."""
        self._file(EventKind.SESSION, record_facts.ended_payload(end), JSON)
        self._log.put_meta("status", end.status.value)

    def message(self, message: Message, usage: Usage, cost_usd: float) -> None:
        """File a message, and its cost in the ledger."""
        model = (message.by or self._model) if message.role is Role.ASSISTANT else ""
        payload = message_payload(message, model, usage, cost_usd)
        self._file(EventKind.MESSAGE, payload)
        if message.role is Role.USER and not self._prompted:
            self._prompted = True
            self._log.put_meta("prompt", message.text[:_MOST_PROMPT])
        if usage != NOTHING_USED or cost_usd:
            self._log.add_cost("session", model, usage, cost_usd)

    def notice(self, notice: Notice) -> None:
        """File what a person is told of the asking of a model."""
        self._file(EventKind.SESSION, record_facts.notice_payload(notice), JSON)

    def call(self, call: Call) -> None:
        """File a call's intent."""
        self._sent.add(call.id)
        producer = self._producer_of(call.operation.provider)
        self._file(EventKind.TOOL_CALL, record.call_payload(call), producer=producer)

    def outcome(self, call: Call, outcome: Outcome) -> None:
        """File how a call, or an attempt at it, ended; the kernel's word when it was not sent."""
        producer = KERNEL
        if call.id in self._sent:
            self._sent.remove(call.id)
            producer = self._producer_of(call.operation.provider)
        payload = record.outcome_payload(call.id, outcome)
        self._file(EventKind.TOOL_RESULT, payload, producer=producer)

    def refused(self, refused: RefusedCall) -> None:
        """File a call that never became one, and its failure as the result."""
        self._file(EventKind.DECISION, record_facts.refusal_payload(refused), JSON)
        self._file(EventKind.TOOL_RESULT, record.outcome_payload(refused.id, refused.failure))

    def plan(self, plan: Plan) -> None:
        """File a plan, its items in their table, and why policy wants to have some asked."""
        self._file(EventKind.PLAN, record.plan_payload(plan))
        for item in plan.items:
            self._log.put_plan_item(item, plan.turn_id)
            if item.verdict.decision is Decision.ASK:
                self.decision(item.call, item.verdict)

    def decision(self, call: Call, verdict: Verdict) -> None:
        """File what was decided about a call, and by whom."""
        self._file(EventKind.DECISION, record_facts.decision_payload(call, verdict), JSON)

    def grant(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        """File what a person allowed beyond the call."""
        self._file(EventKind.GRANT, record_facts.grant_payload(call, scope, lasting), JSON)

    def applied(self, turn_id: str, items: Sequence[ApplyItem]) -> None:
        """File how every item of a plan ended."""
        self._file(EventKind.APPLY, record.apply_payload(turn_id, items))
        for item in items:
            self._log.put_plan_item(item.item, turn_id, item.applied)

    def hook_failed(self, subscription: Subscription, trouble: HookTrouble, message: str) -> None:
        """File that a hook's subscriber failed (K26)."""
        producer = self._producer_of(subscription.provider)
        payload = hook_error_payload(subscription, producer, trouble, message)
        self._file(EventKind.HOOK_ERROR, payload)

    async def durable(self) -> None:
        """Return once everything filed so far is on disk. Raises LogFailed."""
        await self._log.sync()

    def _file(
        self,
        kind: EventKind,
        payload: bytes,
        schema_version: str = EVENT_V1,
        producer: Producer = KERNEL,
    ) -> None:
        self._log.append(kind, payload, schema_version=schema_version, producer=producer)
