"""A model that answers a new prompt in an old session as if it were the first (K30)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pluggableharness.kernel.domain.message import Message, ModelReply
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.models.script import ScriptModel


@dataclass(frozen=True, slots=True)
class Afresh:
    """Hides the first `hidden` messages: a script plays by how much it has said before."""

    model: ScriptModel
    hidden: int

    @property
    def name(self) -> str:
        """The model's own."""
        return self.model.name

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The next message."""
        return await self.model.reply(history[self.hidden :], offered, heard)
