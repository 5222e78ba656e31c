"""A session's life: start, turns until the work is done, and an end that is always filed."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.call import CallContext
from pluggableharness.kernel.domain.cancelled import CallCancelled, is_cancelled
from pluggableharness.kernel.domain.errors import ModelFailed, RecordFailed, UsageError
from pluggableharness.kernel.domain.hook import AtSessionEnd, AtSessionStart
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role, Text, ToolResult
from pluggableharness.kernel.domain.news import Notice, SessionEnded, SessionStarted
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.planning.ends import Stop, due_end
from pluggableharness.kernel.session.loop import OneLoop
from pluggableharness.kernel.session.past import Past
from pluggableharness.kernel.session.ports import SessionRecord
from pluggableharness.kernel.session.spending import Charged, Spending
from pluggableharness.kernel.session.unsettled import settle
from pluggableharness.kernel.turn.denial import denial, was_denied
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.turn import TurnEnd, run_turn

T = TypeVar("T")

_LAST_WORDS = (
    "The session ends after your next message, and no tool is at hand any more. Say what was "
    "done, what is not, and what should come next."
)
_SPENT = (
    "What the session may spend is spent, and the model was not asked. Begin a new session, or "
    "raise the bound in agent.hcl and resume this one."
)
_ONLY_LOOKS = Notice("info", "plan mode: nothing is offered that changes anything")
_GO_ON = "Your last message was interrupted. Go on from there."


@dataclass(slots=True)
class Mode:
    """What a tree of sessions may do at this moment: with `plan` it only looks (K11)."""

    plan: bool = False


@dataclass(slots=True)
class Session:
    """From a first prompt to an end; in a conversation, to one end after another.

    `profile` and `parent` are names for those who watch, "" for none. `offered` are the
    operations in scope; `history` is what the model has seen and will see again. A session
    begins once, by `run` or `resume`; after an end `go_on` takes it to the next.
    """

    id: str
    working_directory: str
    offered: Sequence[Operation]
    ports: TurnPorts
    record: SessionRecord
    history: list[Message] = field(default_factory=list)
    profile: str = ""
    parent: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    spending: Spending = field(default_factory=Spending)
    mode: Mode = field(default_factory=Mode)
    warnings: Sequence[str] = ()

    loop: OneLoop = field(init=False, default_factory=OneLoop)
    _past: Past = field(init=False)
    _taken_over: int = field(init=False, default=0)
    _bounded: SessionStatus | None = field(init=False, default=None)
    _filed: SessionEnd | None = field(init=False, default=None)
    _runner: "asyncio.Task[object] | None" = field(init=False, default=None)
    _stopping: bool = field(init=False, default=False)
    _idle: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._past = self._nothing_past()
        self.ports = replace(self.ports, model=Charged(self.ports.model, self.spending.count))

    async def run(self, prompt: str) -> SessionEnd:
        """Run turns until the work is done, and file the end, whatever it is.

        A cancelled session ends as such in its record, and the CancelledError goes on up.
        Raises RecordFailed when the log can no longer be written, and UsageError when the
        session runs already or lives in another event loop.
        """
        return await self._to_an_end(partial(self.start, prompt))

    async def resume(self, before: RecordedSession, prompt: str | None = None) -> SessionEnd:
        """Go on where the record ends, with a new prompt or without one (K30); else as `run`.

        The calls that `before` left open are settled first (K27). Budgets go on as they were
        spent; whether the model goes round in circles is judged from here on.
        """
        return await self._to_an_end(partial(self._resume, before, prompt))

    async def go_on(self, prompt: str) -> SessionEnd:
        """Go on from the end that was reached last with a further prompt; else as `run`.

        In the record this is a resume, and it reads and counts as one does, but for the turns:
        a person is there again, and each prompt may take as many as the bound says (K20).
        """
        return await self._to_an_end(partial(self._go_on, prompt))

    async def stop(self) -> None:
        """Let what runs end as cancelled, in order, and return when it has; whoever ran it is
        given that end, and no CancelledError. Raises UsageError in another event loop."""
        self.loop.check()
        runner = self._runner
        if runner is None or runner is asyncio.current_task():
            return
        self._stopping = True
        runner.cancel()
        await self._idle.wait()

    @property
    def in_scope(self) -> Sequence[Operation]:
        """The operations that the model is offered at this moment (K11)."""
        if not self.mode.plan:
            return self.offered
        return tuple(one for one in self.offered if one.kind is not Kind.RESOURCE)

    @property
    def denied(self) -> bool:
        """Whether policy or a person denied any call since the session was begun or resumed."""
        outcomes = [
            block.outcome
            for message in self.history[self._taken_over :]
            for block in message.blocks
            if isinstance(block, ToolResult)
        ]
        return any(was_denied(outcome) for outcome in outcomes)

    async def start(self, prompt: str) -> None:
        """Begin: everything that comes before the first turn. Raises ModelFailed, RecordFailed.

        This and `finish` are for `OutsideCalls`, whose turns a program takes and no model.
        """
        self.spending.start()
        model = self.ports.model.name
        self.record.started(self.working_directory, model)
        started = SessionStarted(self.id, self.working_directory, model)
        await self.ports.frontend.hear(started)
        await self._warn()
        await self._tell_mode()
        await self._ask_leave()
        await self._say(prompt)

    async def finish(
        self, status: SessionStatus, reason: str = "", final_text: str = ""
    ) -> SessionEnd:
        """File the end and tell it. Raises RecordFailed."""
        self._filed = end = SessionEnd(self.id, status, reason, final_text)
        self.record.ended(end)
        await self.record.durable()
        await self.ports.hooks.run(AtSessionEnd(self.id, status))
        return await self._told(end)

    async def _told(self, end: SessionEnd) -> SessionEnd:
        await self.record.durable()
        self.spending.stop()
        await self.ports.frontend.hear(SessionEnded(end, self.record.head))
        return end

    def _nothing_past(self) -> Past:
        return Past({one.full_name for one in self.offered if one.kind is Kind.INTERACTIVE})

    async def _to_an_end(self, opening: Callable[[], Awaitable[None]]) -> SessionEnd:
        self.loop.check()
        if self._runner is not None:
            raise UsageError(
                f"session {self.id} runs already; wait for its end, or open another session"
            )
        self._runner = asyncio.current_task()
        self._filed = None
        self._idle.clear()
        try:
            return await self._ended(opening)
        except RecordFailed as failed:
            await self._tell_unrecorded(failed)
            raise
        finally:
            self._runner = None
            self._idle.set()

    async def _ended(self, opening: Callable[[], Awaitable[None]]) -> SessionEnd:
        try:
            return await self._unless_cancelled(opening)
        except asyncio.CancelledError:
            if self._filed is not None:
                end = await self._told(self._filed)  # it had come to this end before
            else:
                end = await self.finish(SessionStatus.CANCELLED, "interrupted")
            if self._was_cancelled_by_others():
                raise
            return end

    async def _unless_cancelled(self, opening: Callable[[], Awaitable[None]]) -> SessionEnd:
        try:
            await opening()
            return await self._turns()
        except ModelFailed as failed:
            return await self.finish(SessionStatus.FAILED, str(failed))

    def _was_cancelled_by_others(self) -> bool:
        """Whether anyone but `stop` wants the task to end, which is told that it need not."""
        if not self._stopping or self._runner is None:
            return True
        self._stopping = False
        return self._runner.uncancel() > 0

    async def _tell_unrecorded(self, failed: RecordFailed) -> None:
        """Tell an end that no record holds: whoever watches must not wait for one."""
        self.spending.stop()
        end = SessionEnd(self.id, SessionStatus.FAILED, str(failed))
        await self.ports.frontend.hear(SessionEnded(end, self.record.head))

    async def _warn(self) -> None:
        """Tell what was amiss when the session was opened, once."""
        warnings, self.warnings = self.warnings, ()
        for warning in warnings:
            await self._tell(Notice("warning", warning))

    async def _tell_mode(self) -> None:
        """Tell whoever begins or resumes the session that it only looks (K11)."""
        if self.mode.plan:
            await self._tell(_ONLY_LOOKS)

    async def _tell(self, notice: Notice) -> None:
        self.record.notice(notice)
        await self.ports.frontend.hear(notice)

    async def _go_on(self, prompt: str) -> None:
        # Whether the model goes round in circles is judged anew: a person has looked at it.
        self._past = self._nothing_past()
        self.spending.prompted()
        await self._file_resumed()
        await self._ask_leave()
        await self._say(prompt)

    async def _file_resumed(self) -> None:
        self.spending.start()
        model = self.ports.model.name
        self.record.resumed(model)
        await self.record.durable()
        await self.ports.frontend.hear(SessionStarted(self.id, self.working_directory, model))
        await self._warn()

    async def _resume(self, before: RecordedSession, prompt: str | None) -> None:
        self.history += before.history
        self._taken_over = len(self.history)
        await self._file_resumed()
        await self._tell_mode()
        for warning in before.warnings:
            await self.ports.frontend.hear(Notice("warning", warning))
        await self._ask_leave()
        if before.left is not None:
            context = CallContext(self.id, ulid(), self.working_directory)
            with self.ports.around(context):
                await self._in_time(
                    settle(self.ports, context, self.history, before.left, self.in_scope)
                )
        if prompt is None and self.history and self.history[-1].interrupted:
            prompt = _GO_ON
        if prompt is not None:
            await self._say(prompt)

    async def _ask_leave(self) -> None:
        """Let hooks forbid the session before anything happens in it (K25)."""
        start = AtSessionStart(self.id, self.profile, self.parent, self.working_directory)
        denied = (await self.ports.hooks.run(start)).denied
        if denied is not None:
            raise ModelFailed(f"The session may not run. {denial(denied).message}")

    async def _say(self, text: str) -> None:
        """Add a message of the user's to the history."""
        message = Message(Role.USER, (Text(text),), id=ulid())
        self.record.message(message, NOTHING_USED, 0.0)
        await self.record.durable()
        self.history.append(message)

    async def _turns(self) -> SessionEnd:
        stop = self._due_end()
        if stop is not None and stop.status is self._bounded:
            # It has said its last words, and is not asked for more at every further prompt.
            return await self.finish(stop.status, f"{stop.reason} {_SPENT}")
        self._bounded = None
        while (stop := self._due_end()) is None:
            turn = await self._turn()
            if turn is None:
                continue
            if turn.done:
                final = _final_text(turn.final) if turn.final else turn.message.text
                cut = turn.cut.value if turn.cut is not None else ""
                return await self.finish(SessionStatus.COMPLETED, cut, final)
            self._past.add(*self.history[-2:])
        return await self._last_turn(stop)

    def _due_end(self) -> Stop | None:
        own = due_end(self.bounds, self.spending.of_prompt, self._past.turns)
        return own or self.spending.spent_above()

    async def _turn(self) -> TurnEnd | None:
        """One turn; None when the session's time ran out within it."""
        context = CallContext(self.id, ulid(), self.working_directory)
        return await self._in_time(run_turn(self.ports, context, self.history, self.in_scope))

    async def _in_time(self, work: Coroutine[None, None, T]) -> T | None:
        """What the work gives back; None when the session's time ran out within it (K20).

        Then its calls have been cancelled, and each has its result in the history.
        """
        limit = asyncio.timeout(self._seconds_left())
        try:
            async with limit:
                return await work
        except (TimeoutError, CallCancelled):
            # Python 3.11 makes a TimeoutError of a bare CancelledError alone.
            if not limit.expired() or is_cancelled():
                raise
            return None

    def _seconds_left(self) -> float | None:
        most = self.bounds.max_wall_clock_s
        return None if most is None else most - self.spending.now.wall_clock_s

    async def _last_turn(self, stop: Stop) -> SessionEnd:
        """Tell the model why it has to end, and let it answer once, without tools (K20)."""
        await self._say(f"{stop.reason} {_LAST_WORDS}")
        self._bounded = stop.status
        context = CallContext(self.id, ulid(), self.working_directory)
        try:
            turn = await run_turn(self.ports, context, self.history, ())
        except ModelFailed as failed:
            return await self.finish(stop.status, f"{stop.reason} It has no last words: {failed}")
        return await self.finish(stop.status, stop.reason, turn.message.text)


def _final_text(final: Success) -> str:
    """A terminating call's result as the session's last words (K12): its texts, by name."""
    texts = [str(value) for value in final.payload.values() if value not in (None, "")]
    return "\n".join(texts)
