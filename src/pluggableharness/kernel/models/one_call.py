"""A person's own call as a session: one message with one call, and nothing after it (K4)."""

from collections.abc import Awaitable, Callable, Sequence

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import Message, ModelReply, Role
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.session import BY_HAND
from pluggableharness.kernel.domain.values import JsonObject


class OneCall:
    """Proposes the given call once, then falls silent."""

    name = BY_HAND

    def __init__(self, operation: str, arguments: JsonObject | str) -> None:
        self._call = ProposedCall("call", operation, arguments)

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The call, and after its result an empty message."""
        asked = any(message.calls for message in history)
        return ModelReply(Message(Role.ASSISTANT, () if asked else (self._call,)))
