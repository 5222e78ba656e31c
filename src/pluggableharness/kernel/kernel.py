"""The kernel as a whole: binds the ports of sessions to processes, logs, policy and screens.

The composition root: the one file of the kernel that may import everything.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from pluggableharness.kernel.codec.record import EVENT_V1, outcome_payload
from pluggableharness.kernel.config.instructions import instructions
from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import (
    NOTHING_USED,
    ModelReply,
    ToolResult,
)
from pluggableharness.kernel.domain.model_choice import ModelChoice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.judging import Judging
from pluggableharness.kernel.models.answering import Answering
from pluggableharness.kernel.models.one_call import OneCall
from pluggableharness.kernel.planning import classify
from pluggableharness.kernel.plugins.errors import left_out
from pluggableharness.kernel.plugins.supervisor import ProviderProcesses
from pluggableharness.kernel.policy import Explanation
from pluggableharness.kernel.session.approvals import SessionPolicy
from pluggableharness.kernel.session.children import Family, Member
from pluggableharness.kernel.session.hooks import SessionHooks, told_apart
from pluggableharness.kernel.session.instructing import Instructing
from pluggableharness.kernel.session.loop import OneLoop
from pluggableharness.kernel.session.outside import Elsewhere, OutsideCalls
from pluggableharness.kernel.session.relay import OneByOne
from pluggableharness.kernel.session.session import Mode, Session
from pluggableharness.kernel.session.spending import Charged, Spending
from pluggableharness.kernel.session.stopping import Stopping
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.descent import check_root
from pluggableharness.kernel.store.location import sessions_directory
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.telemetry.otlp import otlp_tracer
from pluggableharness.kernel.telemetry.session import Traces
from pluggableharness.kernel.turn.hooks import NO_HOOKS, Hooks
from pluggableharness.kernel.turn.ports import Frontend, Model, TurnPorts


class Kernel:
    """Runs sessions and single calls over one set of provider processes.

    Made by `opened`, which also ends it.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._subscriptions = told_apart(setup.hooks)
        self._judging = Judging(setup, self._charge_review)
        self._logs: dict[str, EventLog] = {}
        self._stopping = Stopping()
        self._loop = OneLoop()
        self._closed = False
        collector = setup.telemetry
        self._traces = Traces(
            None if collector is None else partial(otlp_tracer, collector),
            frozenset(one.point for one in self._subscriptions),
        )
        # By identity, and only while a session holds the lock beside its frontend.
        self._asking: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._family = Family(setup.profiles, self._child_session)
        self._processes = ProviderProcesses(
            setup.started, self._file, self._family.ancestors, self._family.run, setup.absent
        )

    async def operations(self) -> tuple[Operation, ...]:
        """Everything that the providers offer and that was admitted.

        A provider that did not load, or was not admitted, is left out and in `absent` (P2, F4).
        Raises ProviderUnavailable with all reasons when none is left, what `admit` raises, and
        UsageError when the kernel has been closed or lives in another event loop.
        """
        return await self._declared(lambda provider: True)

    async def _declared(self, needed: Callable[[str], bool]) -> tuple[Operation, ...]:
        """As `operations`, of the providers that are needed alone (K15)."""
        if self._closed:
            raise UsageError("the kernel is closed: its `async with` block is over; open another")
        self._loop.check()
        declared = await self._processes.operations(self._setup.admit, needed)
        off = {f"{spec.name}.{name}" for spec in self._setup.providers for name in spec.disabled}
        return tuple(one for one in declared if one.full_name not in off)

    async def operation(self, full_name: str) -> Operation | None:
        """The operation of that name, `provider.operation`; None when there is none."""
        found = (one for one in await self.operations() if one.full_name == full_name)
        return next(found, None)

    @property
    def absent(self) -> Mapping[str, str]:
        """The providers that are left out, and why, as far as it is known by now."""
        return self._processes.absent

    def own_name(self, provider: str) -> str:
        """What a provider calls itself, whatever it is loaded as; "" when it has not said."""
        return self._processes.own_name(provider)

    @asynccontextmanager
    async def session(
        self, model: Model, frontend: Frontend, *, own_act: bool = False
    ) -> AsyncIterator[Session]:
        """A new session with a log of its own; what was its alone ends with it.

        `own_act` says that its calls are a person's own, who thereby answers what would be
        asked (K4).
        """
        async with self._session(self._root(frontend, own_act), model) as session:
            yield session

    @asynccontextmanager
    async def calls(self, caller: str, frontend: Frontend) -> AsyncIterator[OutsideCalls]:
        """A session whose calls come from outside, one record for all of them (K34).

        `caller` stands in the record where the model does. The session ends with the block:
        completed, or cancelled when an exception or a cancellation leaves it. Raises
        ModelFailed when a hook forbids the session.
        """
        async with (
            self.session(Elsewhere(caller), frontend) as session,
            OutsideCalls(session) as outside,
        ):
            with self._stopping.stopped_with_all(outside):
                yield outside

    @asynccontextmanager
    async def resumed(
        self, path: Path, model: Callable[[RecordedSession], Model], frontend: Frontend
    ) -> AsyncIterator[tuple[Session, RecordedSession]]:
        """The session of a log, to go on with by `Session.resume`, as what it had come to.

        `model` is told that too. Raises what EventLog.open does, LogUnreadable, and UsageError
        for a session that another one started.
        """
        check_root(path)
        async with AsyncExitStack() as opened_log:
            log = EventLog.open(path)
            opened_log.push_async_callback(log.close)
            before = read_session(path)
            member = self._root(frontend, own_act=False)
            member.session_id = log.session_id
            member.spending = Spending(before.spent)
            async with self._session(member, model(before), log) as session:
                yield session, before

    @asynccontextmanager
    async def _session(
        self, member: Member, model: Model, log: EventLog | None = None
    ) -> AsyncIterator[Session]:
        """Open the session of a member, root or child, with a record of its own (K22)."""
        directory = str(self._setup.working_directory)
        told = instructions(member.profile, directory) if isinstance(model, Answering) else ""
        hooking = {one.provider for one in self._subscriptions}

        def needed(provider: str) -> bool:
            return member.needs(provider) or provider in hooking

        operations = await self._declared(needed)
        async with self._recorded(member, log) as record, self._family.joined(member):
            if isinstance(model, Answering):
                model.instructions = Instructing(told, member.mode, record.instructed)
            ports = self._ports(member, model, record)
            with self._traces.session(
                ports, member.session_id, member.profile.name, member.parent_id, member.callers
            ) as watched:
                session = Session(
                    member.session_id,
                    directory,
                    member.offered(operations),
                    watched,
                    record,
                    profile=member.profile.name,
                    parent=member.parent_id,
                    bounds=member.profile.bounds,
                    spending=member.spending,
                    mode=member.mode,
                    warnings=left_out(
                        {name: self.absent[name] for name in filter(needed, self.absent)}
                    ),
                )
                with self._stopping.stopped_with_all(session):
                    yield session

    @asynccontextmanager
    async def _recorded(self, member: Member, log: EventLog | None) -> AsyncIterator[SessionLog]:
        """The record of a member's session; with it ends what was that session's alone."""
        session_id = member.session_id
        log = log or EventLog.create(sessions_directory(os.environ), session_id)
        self._logs[session_id] = log
        try:
            yield SessionLog(log, self._processes.producer, member.profile.name, member.parent_id)
        finally:
            await self._processes.end_session(session_id)
            del self._logs[session_id]
            self._judging.end(session_id)
            await log.close()
            if not log.sequence:
                log.path.unlink(missing_ok=True)  # nobody said a word: there is no session

    def _ports(self, member: Member, model: Model, record: SessionLog) -> TurnPorts:
        policy = self._judging.begin(member)
        return TurnPorts(
            Charged(model, lambda reply: self._charge(member, model.name, reply)),
            self._processes,
            record,
            member.frontend,
            decide=policy.decide,
            deadline_s=self._setup.deadline_s,
            retries=member.profile.retries,
            locate=self._judging.locate,
            grants=policy,
            review=partial(self._judging.review, member),
            hooks=self._hooks(member, record),
        )

    def _root(self, frontend: Frontend, own_act: bool) -> Member:
        profile, bounds = self._setup.profile, self._setup.bounds
        if bounds is not None:
            profile = replace(profile, bounds=bounds)
        depth = profile.depth if self._setup.profiles else 0
        turn = self._asking.setdefault(id(frontend), asyncio.Lock())
        mode = Mode(self._setup.plan_mode and not own_act)
        return Member(profile, OneByOne(frontend, turn), depth, own_act=own_act, mode=mode)

    def _child_session(self, member: Member) -> AbstractAsyncContextManager[Session]:
        if self._setup.models is None:
            raise UsageError(
                f"there is no model for the agent profile {in_quotes(member.profile.name)}"
            )
        return self._session(member, self._setup.models(member.profile))

    def _hooks(self, member: Member, record: SessionLog) -> Hooks:
        if not self._subscriptions:
            return NO_HOOKS
        return SessionHooks(
            member.session_id,
            self._subscriptions,
            self._processes.hook,
            record,
            member.frontend.hear,
        )

    def _charge(self, member: Member, model: str, reply: ModelReply) -> None:
        """Note a reply in the ledgers of those above; its own session files it itself."""
        for above in member.above:
            self._note_cost(above.session_id, member.session_id, model, reply)

    def _charge_review(self, member: Member, model: str, reply: ModelReply) -> None:
        """Note a reviewer's reply in the ledger of the session whose call it judged (K8)."""
        self._note_cost(member.session_id, "review", model, reply)

    def _note_cost(self, ledger: str, spender: str, model: str, reply: ModelReply) -> None:
        if reply.usage != NOTHING_USED or reply.cost_usd:
            by = reply.message.by or model
            self._logs[ledger].add_cost(spender, by, reply.usage, reply.cost_usd)

    async def call(
        self, operation: str, arguments: JsonObject | str, frontend: Frontend
    ) -> Outcome:
        """Make one call as a person's own act: a session of one call, with its record (K4)."""
        model = OneCall(operation, arguments)
        async with self.session(model, frontend, own_act=True) as session:
            await session.run(f"harness call {operation}")
        (result,) = (
            block
            for message in session.history
            for block in message.blocks
            if isinstance(block, ToolResult)
        )
        return result.outcome

    async def preview(
        self, operation: str, arguments: JsonObject | str
    ) -> RenderNode | Failure | None:
        """What a call would do, without doing it; None when the provider does not say (P29)."""
        call = self._classify(operation, arguments, await self.operations())
        if isinstance(call, RefusedCall):
            return call.failure
        return await self._processes.preview(call)

    async def drawn(self, call: Call, success: Success) -> RenderNode | None:
        """What a call's result looks like; None when its provider does not say (P30)."""
        self._loop.check()
        payload = outcome_payload(call.id, success)
        return await self._processes.render(call.operation.provider, payload, EVENT_V1)

    async def explain(
        self, operation: str, arguments: JsonObject | str, session: Session | None = None
    ) -> tuple[Call, Explanation] | Failure:
        """How a call would be judged and why, without making it; a Failure if it cannot be (F11).

        In a session that runs it is judged with all that was granted there; without one, as in
        a new one with a person at hand.
        """
        offered = await self.operations() if session is None else session.offered
        call = self._classify(operation, arguments, offered)
        if isinstance(call, RefusedCall):
            return call.failure
        call = await self._judging.locate(call)
        if session is not None:
            return call, self._judging.of(session.id).explain(call)
        return call, self._judging.explain(call)

    def policy(self, session_id: str) -> SessionPolicy:
        """The policy of a session that runs, as it stands with all that was granted (K10)."""
        return self._judging.of(session_id)

    def go_on_with(self, session: Session, models: tuple[ModelChoice, ...]) -> None:
        """Let these be a session's models: those of sub-agents and reviewers that have none.

        Who answers the session itself is the matter of the model that it was opened with.
        """
        self._family.go_on_with(session.id, models)

    async def close(self) -> None:
        """End what runs as cancelled, and every provider process; nothing of them is left (K16).

        Then send the traces.
        """
        self._closed = True
        await self._stopping.stop()
        await self._processes.close()
        await self._traces.close()

    def _classify(
        self, operation: str, arguments: JsonObject | str, offered: Sequence[Operation]
    ) -> Call | RefusedCall:
        context = CallContext(ulid(), ulid(), str(self._setup.working_directory))
        proposed = ProposedCall("supposed", operation, arguments)
        return classify(
            proposed, offered, call_id=ulid(), context=context, deadline_s=self._setup.deadline_s
        )

    async def _file(
        self, session_id: str, producer: Producer, kind: EventKind, version: str, payload: bytes
    ) -> Event:
        """Store what a provider emitted, for a session that runs here (K28)."""
        log = self._logs.get(session_id)
        if log is None:  # a provider has some seconds more than the session whose call it had
            raise UsageError(f"session {session_id} has ended, and its record is closed")
        event = log.append(kind, payload, schema_version=version, producer=producer)
        await log.sync()
        return event


@asynccontextmanager
async def opened(setup: Setup) -> AsyncIterator[Kernel]:
    """A kernel for the length of a block; its providers end with it, however it ends."""
    kernel = Kernel(setup)
    try:
        yield kernel
    finally:
        await kernel.close()
