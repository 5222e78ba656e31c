"""The spans of a session, made where its turns meet the world: at their ports.

No turn knows of them. A model, a frontend, the providers and the hooks are wrapped once, and
what passes through them is timed. Spans carry ids, names, counts and categories; arguments,
output and messages never get here.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.hook import (
    POINTS,
    AfterCall,
    BeforeCall,
    HookEnd,
    HookPayload,
    HookPoint,
)
from pluggableharness.kernel.domain.message import Message, ModelReply
from pluggableharness.kernel.domain.news import CallEnded, CallRefused, News, SessionEnded
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Failure, Outcome
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Review, Verdict
from pluggableharness.kernel.telemetry.spans import Attribute, Span, Tracer
from pluggableharness.kernel.turn.hooks import Hooks
from pluggableharness.kernel.turn.ports import (
    Frontend,
    Heard,
    Model,
    Providers,
    Running,
    TextHeard,
    TurnPorts,
)

SESSION: Final = "harness.session.id"
TURN: Final = "harness.turn.id"
CALL: Final = "harness.call.id"
DECISION: Final = "harness.decision"
OPERATION: Final = "gen_ai.tool.name"
"""Names that OpenTelemetry's conventions have are theirs; the rest are ours."""

_TURN: ContextVar[tuple[str, str, Span] | None] = ContextVar("turn", default=None)
"""The turn that a task works for: its session, its id and its span.

Several turns of a session may run at once. The session counts, since the tasks of a connection
to a provider go on in the context of whoever happened to open it.
"""


class Traces:
    """The spans of all sessions of one kernel."""

    def __init__(
        self, tracer: Callable[[], Tracer] | None, points: frozenset[HookPoint] = frozenset()
    ) -> None:
        """`tracer` makes what the first session needs; None for no traces.

        Hooks are traced at those points alone to which somebody has subscribed.
        """
        self._make = tracer
        self._tracer: Tracer | None = None
        self._points = points
        self._open: dict[str, Span] = {}

    @contextmanager
    def session(
        self,
        ports: TurnPorts,
        session_id: str,
        profile: str,
        parent: str = "",
        callers: frozenset[str] = frozenset(),
    ) -> Iterator[TurnPorts]:
        """The ports of a session with spans for what passes through them, while it is open.

        `parent` is "" for a session that a person started. A child's span is below that of the
        call that waits for it, or below its parent's where any of several may be that call.
        Raises what making the tracer does.
        """
        if self._make is None:
            yield ports
            return
        tracer = self._tracer = self._tracer or self._make()
        (caller,) = callers if len(callers) == 1 else (parent,)
        root = tracer.start(
            f"invoke_agent {profile}",
            self._open.get(caller),
            {SESSION: session_id, "gen_ai.operation.name": "invoke_agent"},
        )
        self._open[session_id] = root
        trace = SessionTrace(session_id, root, tracer, self._points, self._open)
        try:
            yield trace.ports(ports)
        except BaseException as error:
            root.fail(_why(error))
            raise
        finally:
            del self._open[session_id]
            root.end()

    async def close(self) -> None:
        """Send what there is, within a bounded time."""
        if self._tracer is not None:
            await self._tracer.close()


@dataclass(slots=True)
class SessionTrace:
    """Makes the spans of one session.

    `root` is the session's own span, and `open` has those of the kernel's running calls, by
    their ids.
    """

    session_id: str
    root: Span
    tracer: Tracer
    points: frozenset[HookPoint]
    open: dict[str, Span]
    told: set[str] = field(default_factory=set)

    def ports(self, ports: TurnPorts) -> TurnPorts:
        """The same ports, with spans for what passes through them."""
        review = ports.review

        async def reviewed(call: Call, review_of: Review) -> Verdict:
            assert review is not None
            with self.span("review", _of(call)) as span:
                verdict = await review(call, review_of)
                span.note({DECISION: verdict.decision.value})
            return verdict

        return replace(
            ports,
            model=_TracedModel(ports.model, self),
            providers=_TracedProviders(ports.providers, self),
            frontend=_TracedFrontend(ports.frontend, self),
            hooks=_TracedHooks(ports.hooks, self),
            review=None if review is None else reviewed,
            around=self.turn,
        )

    @contextmanager
    def turn(self, context: CallContext) -> Iterator[None]:
        """The span of a turn; what happens meanwhile, in this task and those below, is in it."""
        with self.span("turn", {TURN: context.turn_id}) as span:
            before = _TURN.set((self.session_id, context.turn_id, span))
            try:
                yield
            finally:
                _TURN.reset(before)

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Attribute], above: Span | None = None
    ) -> Iterator[Span]:
        """A span for the length of a block, below the turn unless something else is given."""
        every: dict[str, Attribute] = {SESSION: self.session_id}
        if (turn := _TURN.get()) is not None and turn[0] == self.session_id:
            every[TURN] = turn[1]
            above = above or turn[2]
        span = self.tracer.start(name, above or self.root, {**every, **attributes})
        try:
            yield span
        except BaseException as error:
            span.fail(_why(error))
            raise
        finally:
            span.end()

    @contextmanager
    def call(self, call: Call, attributes: Mapping[str, Attribute]) -> Iterator[Span]:
        """The span of a call; child sessions that it starts meanwhile are below it."""
        self.told.add(call.id)
        name = f"execute_tool {call.operation.full_name}"
        with self.span(name, {**_of(call), **attributes}) as span:
            self.open[call.id] = span
            try:
                yield span
            finally:
                del self.open[call.id]


@dataclass(frozen=True, slots=True)
class _TracedModel:
    model: Model
    trace: SessionTrace

    @property
    def name(self) -> str:
        return self.model.name

    async def reply(
        self, history: Sequence[Message], offered: Sequence[Operation], heard: TextHeard
    ) -> ModelReply:
        asked = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name}
        with self.trace.span(f"chat {self.name}", asked) as span:
            reply = await self.model.reply(history, offered, heard)
            span.note(
                {
                    "gen_ai.usage.input_tokens": reply.usage.input_tokens,
                    "gen_ai.usage.output_tokens": reply.usage.output_tokens,
                    "harness.cost_usd": reply.cost_usd,
                }
            )
        return reply


@dataclass(frozen=True, slots=True)
class _TracedProviders:
    providers: Providers
    trace: SessionTrace

    def locked(self, call: Call) -> "_Holding":
        return _Holding(self.providers.locked(call), call, self.trace)

    async def preview(self, call: Call) -> RenderNode | None:
        return await self.providers.preview(call)


@dataclass(frozen=True, slots=True)
class _Holding:
    """A hold on a provider process: the wait for it is a span, which covers its start too."""

    hold: AbstractAsyncContextManager[Running]
    call: Call
    trace: SessionTrace

    async def __aenter__(self) -> "_TracedRunning":
        with self.trace.span("wait_for_lock", _of(self.call)):
            running = await self.hold.__aenter__()
        return _TracedRunning(running, self.trace)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self.hold.__aexit__(kind, error, trace)


@dataclass(slots=True)
class _TracedRunning:
    """Each attempt at a call is a span of its own, counted from 1 (P17)."""

    running: Running
    trace: SessionTrace
    attempts: int = 0

    def declares(self, operation: Operation) -> bool:
        return self.running.declares(operation)

    async def invoke(self, call: Call, heard: Heard) -> Outcome:
        self.attempts += 1
        with self.trace.call(call, {"harness.attempt": self.attempts}) as span:
            outcome = await self.running.invoke(call, heard)
            if isinstance(outcome, Failure):
                span.fail(outcome.category.value)
        return outcome


@dataclass(frozen=True, slots=True)
class _TracedFrontend:
    frontend: Frontend
    trace: SessionTrace

    @property
    def attended(self) -> bool:
        return self.frontend.attended

    async def hear(self, news: News) -> None:
        match news:
            case CallEnded(call, outcome):
                self._ended(call, outcome)
            case CallRefused(turn_id, refused):
                # Its name is whatever the model wrote, and so not for a trace.
                with self.trace.span("execute_tool", {TURN: turn_id, CALL: refused.id}) as span:
                    span.fail(refused.failure.category.value)
            case SessionEnded(end):
                self.trace.root.note({"harness.status": end.status.value})
                if end.status is not SessionStatus.COMPLETED:
                    self.trace.root.fail(end.status.value)
            case _:
                pass
        await self.frontend.hear(news)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        with self.trace.span("wait_for_person", _of(item.call)) as span:
            answer = await self.frontend.decide(item, changed)
            if answer is not None:
                span.note({DECISION: "allow" if answer.allow else "deny"})
        return answer

    async def answer(self, call: Call) -> JsonObject | None:
        with (
            self.trace.call(call, {}) as span,
            self.trace.span("wait_for_person", _of(call), span),
        ):
            return await self.frontend.answer(call)

    def _ended(self, call: Call, outcome: Outcome) -> None:
        """A call that was never sent has no span yet: it was denied, or nobody could take it."""
        if call.id in self.trace.told:
            self.trace.told.discard(call.id)
        elif isinstance(outcome, Failure):
            with self.trace.call(call, {"harness.attempt": 0}) as span:
                span.fail(outcome.category.value)
            self.trace.told.discard(call.id)


@dataclass(frozen=True, slots=True)
class _TracedHooks:
    hooks: Hooks
    trace: SessionTrace

    async def run(self, payload: HookPayload) -> HookEnd:
        point = POINTS[type(payload)]
        if point not in self.trace.points:
            return await self.hooks.run(payload)
        told = _of(payload.call) if isinstance(payload, BeforeCall | AfterCall) else {}
        told["harness.hook.point"] = point.value
        with self.trace.span(f"hook {point.value}", told) as span:
            end = await self.hooks.run(payload)
            span.note({DECISION: "deny" if end.denied else "allow"})
        return end


def _of(call: Call) -> dict[str, Attribute]:
    operation = call.operation
    return {
        TURN: call.context.turn_id,
        CALL: call.id,
        OPERATION: operation.full_name,
        "harness.operation.kind": operation.kind.value,
        "harness.operation.risk": operation.risk.value,
    }


def _why(error: BaseException) -> str:
    """An exception as a category: its message may hold what no trace may."""
    return "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__name__
