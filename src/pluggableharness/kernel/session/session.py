"""A session's life: start, turns until the work is done, and an end that is always filed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from pluggableharness.kernel.domain.call import CallContext
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import NOTHING_USED, Message, Role, Text, ToolResult
from pluggableharness.kernel.domain.news import SessionEnded, SessionStarted
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.session.ports import SessionRecord
from pluggableharness.kernel.turn.denial import was_denied
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.turn import run_turn


@dataclass(slots=True)
class Session:
    """One run from a first prompt to an end.

    `offered` are the operations in scope; `history` is what the model has seen and will see
    again. A session is run once, by `run`.
    """

    id: str
    working_directory: str
    offered: Sequence[Operation]
    ports: TurnPorts
    record: SessionRecord
    history: list[Message] = field(default_factory=list)

    async def run(self, prompt: str) -> SessionEnd:
        """Run turns until the work is done, and file the end, whatever it is.

        A cancelled session ends as such in its record, and the CancelledError goes on up.
        Raises RecordFailed when the log can no longer be written.
        """
        try:
            await self._start(prompt)
            end = await self._turns()
        except asyncio.CancelledError:
            await self._finish(SessionStatus.CANCELLED, "interrupted")
            raise
        except ModelFailed as failed:
            end = await self._finish(SessionStatus.FAILED, str(failed))
        return end

    @property
    def denied(self) -> bool:
        """Whether policy or a person denied any call of it."""
        outcomes = [
            block.outcome
            for message in self.history
            for block in message.blocks
            if isinstance(block, ToolResult)
        ]
        return any(was_denied(outcome) for outcome in outcomes)

    async def _start(self, prompt: str) -> None:
        model = self.ports.model.name
        self.record.started(self.working_directory, model)
        started = SessionStarted(self.id, self.working_directory, model)
        await self.ports.frontend.hear(started)
        message = Message(Role.USER, (Text(prompt),), id=ulid())
        self.record.message(message, NOTHING_USED, 0.0)
        await self.record.durable()
        self.history.append(message)

    async def _turns(self) -> SessionEnd:
        while True:
            context = CallContext(self.id, ulid(), self.working_directory)
            turn = await run_turn(self.ports, context, self.history, self.offered)
            if turn.done:
                final = _final_text(turn.final) if turn.final else turn.message.text
                return await self._finish(SessionStatus.COMPLETED, final_text=final)

    async def _finish(
        self, status: SessionStatus, reason: str = "", final_text: str = ""
    ) -> SessionEnd:
        end = SessionEnd(self.id, status, reason, final_text)
        self.record.ended(end)
        await self.record.durable()
        await self.ports.frontend.hear(SessionEnded(end, self.record.head))
        return end


def _final_text(final: Success) -> str:
    """A terminating call's result as the session's last words (K12): its texts, by name."""
    texts = [str(value) for value in final.payload.values() if value not in (None, "")]
    return "\n".join(texts)
