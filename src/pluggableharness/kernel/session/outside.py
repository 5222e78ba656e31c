"""A session whose calls come from outside: another agent's loop, or a client over MCP (K34, K35).

Each call is a turn of its own with a message of one call, and passes what any call passes:
schema, hooks, policy, plan and gate, locks, record. Turns run at the same time as the locks
allow; whoever wants an order waits for results. The model, its loop and hence the bounds that
count its turns (K18-K20) are the caller's.
"""

import asyncio
from collections.abc import Sequence
from typing import Final, Self

from pluggableharness.kernel.domain.call import CallContext, ProposedCall
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import (
    NOTHING_USED,
    Message,
    ModelReply,
    Role,
    ToolResult,
)
from pluggableharness.kernel.domain.news import MessageArrived
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.turn.ports import TextHeard
from pluggableharness.kernel.turn.turn import run_message

_OVER: Final = Failure(ErrorCategory.CANCELLED, "The session is over; the call did not run.")
_CUT_OFF: Final = Failure(
    ErrorCategory.CANCELLED,
    "The session ended while this call ran; its record says how far it got.",
)


class Elsewhere:
    """Stands in the record for a model that the kernel does not ask; `name` says whose it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def reply(
        self, history: Sequence[Message], offered: Sequence[Operation], heard: TextHeard
    ) -> ModelReply:
        """Nothing: such a model speaks by its calls. Raises ModelFailed."""
        raise ModelFailed(f"{self.name} makes its calls by itself and is not asked for any")


class OutsideCalls:
    """Makes the calls of one session, for the length of a block.

    The end is filed as completed, or as cancelled when an exception or a cancellation leaves
    the block; calls that still run then are cancelled first.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._running: set[asyncio.Task[Outcome]] = set()
        self._over = False

    async def __aenter__(self) -> Self:
        """Begin. Raises ModelFailed when a hook forbids the session, and RecordFailed."""
        name = self._session.ports.model.name
        try:
            await self._session.start(f"Calls of {name}")
        except ModelFailed as failed:
            await self._session.finish(SessionStatus.FAILED, str(failed))
            raise
        except asyncio.CancelledError:
            await self._session.finish(SessionStatus.CANCELLED, "interrupted")
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: object
    ) -> None:
        """End. Raises RecordFailed."""
        await self.stop()
        if kind is None:
            await self._session.finish(SessionStatus.COMPLETED)
        else:
            await self._session.finish(SessionStatus.CANCELLED, f"left by {kind.__name__}")

    async def stop(self) -> None:
        """Let the calls that run end as cancelled, and none begin any more."""
        self._over = True
        running = set(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    @property
    def session_id(self) -> str:
        """The id of the session, under which its record is found."""
        return self._session.id

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What may be called: what the profile has, and in plan mode no resource (K11)."""
        return tuple(self._session.in_scope)

    async def call(
        self, operation: str, arguments: JsonObject | str, tool_use_id: str = ""
    ) -> Outcome:
        """Make one call by its full name, and return how it ended; a denial is an outcome (K10).

        `tool_use_id` is what the caller knows it by, unique within the session; "" for one that
        is made up. Cancelling the caller cancels the call, which then ends in order, with its
        report. Raises RecordFailed, and UsageError in another event loop than the session's.
        """
        self._session.loop.check()
        if self._over:
            return _OVER
        task = asyncio.ensure_future(
            self._run(ProposedCall(tool_use_id or ulid(), operation, arguments))
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            # Whoever cancels again and again, as anyio does, does not disturb the call's own
            # end: it is left to that, and the end of the session waits for it.
            await asyncio.wait({task})
            raise
        return _CUT_OFF if task.cancelled() else task.result()

    async def _run(self, proposed: ProposedCall) -> Outcome:
        session = self._session
        context = CallContext(session.id, ulid(), session.working_directory)
        message = Message(Role.ASSISTANT, (proposed,), id=context.turn_id)
        ports, history = session.ports, list[Message]()
        ports.record.message(message, NOTHING_USED, 0.0)

        async def tell() -> None:
            await ports.frontend.hear(MessageArrived(context.turn_id, message))

        with ports.around(context):
            await run_message(ports, context, history, session.in_scope, message, tell)
        (result,) = (block for block in history[-1].blocks if isinstance(block, ToolResult))
        return result.outcome
