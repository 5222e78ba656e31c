"""The kernel as a whole: binds the ports of sessions to processes, logs, policy and screens.

The composition root: the one file of the kernel that may import everything.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import ToolResult
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import Failure, Outcome
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.first_party import all_first_party
from pluggableharness.kernel.models.one_call import OneCall
from pluggableharness.kernel.planning import classify, deadline_s
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.plugins.supervisor import ProviderProcesses
from pluggableharness.kernel.policy import Asking, Rule, RuleBook, Terms, decide
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.store.location import sessions_directory
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.turn.ports import Frontend, Model, TurnPorts


Admit = Callable[[Sequence[Operation], Callable[[str], Producer]], tuple[Operation, ...]]
"""From all that is declared, and who a provider is, to what may be offered."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a kernel is made of.

    `timeout_s` overrides every operation's own deadline, `timeouts` that of single ones by
    their full names, and `default_timeout_s` is for those that declare none (K14). `allow_all`
    turns what would be asked into allow, never what is denied (K10); `gate_reads` and
    `policy_files` are as in `Terms`. `admit` judges what the providers declare, and gives back
    what may be offered or raises (F4, F8).
    """

    working_directory: Path
    providers: tuple[ProviderSpec, ...] = field(default_factory=all_first_party)
    timeout_s: float | None = None
    allow_all: bool = False
    rules: tuple[Rule, ...] = ()
    timeouts: Mapping[str, float] = field(default_factory=dict)
    default_timeout_s: float | None = None
    gate_reads: bool = False
    policy_files: frozenset[str] = frozenset()
    admit: Admit = field(default=lambda offered, producer: tuple(offered), compare=False)
    bounds: Bounds = field(default_factory=Bounds)


class Kernel:
    """Runs sessions and single calls over one set of provider processes.

    Made by `opened`, which also ends it.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._rules = RuleBook(setup.rules)
        self._logs: dict[str, EventLog] = {}
        self._processes = ProviderProcesses(setup.providers, self._file)

    async def operations(self) -> tuple[Operation, ...]:
        """Everything that the providers offer and that was admitted.

        Raises ProviderUnavailable with all reasons, or what `admit` raises.
        """
        return self._setup.admit(await self._processes.operations(), self._processes.producer)

    async def operation(self, full_name: str) -> Operation | None:
        """The operation of that name, `provider.operation`; None when there is none."""
        found = (one for one in await self.operations() if one.full_name == full_name)
        return next(found, None)

    @asynccontextmanager
    async def session(
        self, model: Model, frontend: Frontend, *, own_act: bool = False
    ) -> AsyncIterator[Session]:
        """A new session with a log of its own; what was its alone ends with it.

        `own_act` says that its calls are a person's own, who thereby answers what would be
        asked (K4).
        """
        offered = await self.operations()
        session_id = ulid()
        log = EventLog.create(sessions_directory(os.environ), session_id)
        self._logs[session_id] = log
        record = SessionLog(log, self._processes.producer)
        ports = TurnPorts(
            model,
            self._processes,
            record,
            frontend,
            decide=lambda call: decide(self._rules, call, self._terms(frontend, own_act)),
            deadline_s=self._deadline_s,
        )
        directory = str(self._setup.working_directory)
        try:
            yield Session(session_id, directory, offered, ports, record, bounds=self._setup.bounds)
        finally:
            await self._processes.end_session(session_id)
            del self._logs[session_id]
            await log.close()

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

    async def close(self) -> None:
        """End every provider process; nothing of them is left (K16)."""
        await self._processes.close()

    def _classify(
        self, operation: str, arguments: JsonObject | str, offered: Sequence[Operation]
    ) -> Call | RefusedCall:
        context = CallContext(ulid(), ulid(), str(self._setup.working_directory))
        proposed = ProposedCall("preview", operation, arguments)
        return classify(
            proposed, offered, call_id=ulid(), context=context, deadline_s=self._deadline_s
        )

    def _terms(self, frontend: Frontend, own_act: bool) -> Terms:
        if own_act:
            asking = Asking.CALLER
        elif self._setup.allow_all:
            asking = Asking.ALLOW_ALL
        else:
            asking = Asking.PERSON if frontend.attended else Asking.NOBODY
        return Terms(asking, self._setup.gate_reads, self._setup.policy_files)

    def _deadline_s(self, operation: Operation) -> float | None:
        setup = self._setup
        given = setup.timeout_s or setup.timeouts.get(operation.full_name)
        declared = operation.default_timeout_s or operation.kind is Kind.INTERACTIVE
        return deadline_s(operation, given or (None if declared else setup.default_timeout_s))

    async def _file(
        self, session_id: str, producer: Producer, kind: EventKind, version: str, payload: bytes
    ) -> Event:
        """Store what a provider emitted, for a session that runs here (K28)."""
        log = self._logs[session_id]
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
