"""What a model gives back, which a program that embeds the kernel may have written (K34, K36)."""

from typing import Final

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.message import (
    Message,
    ModelReply,
    Role,
    Sealed,
    Text,
    Thinking,
    Usage,
)
from pluggableharness.kernel.domain.quoting import in_quotes

_SAID: Final = (Text, Thinking, Sealed, ProposedCall)


def reply_of(name: str, given: object) -> ModelReply:
    """What the model of that name gave back. Raises ModelFailed where that is no reply."""
    match given:
        case ModelReply(message=Message(role=Role.ASSISTANT, blocks=[*blocks]), usage=Usage()):
            strange = [_kind(block) for block in blocks if not isinstance(block, _SAID)]
            if not strange:
                return given
            found = f"a message with {strange[0]} in it"
        case ModelReply(message=Message(role=role)) if role is not Role.ASSISTANT:
            found = f"a message of the role {role}"
        case ModelReply():
            found = "a ModelReply of something else than a Message with blocks and a Usage"
        case _:
            found = _kind(given)
    raise ModelFailed(
        f"the model {in_quotes(name)} has a mistake: its reply came to {found}, and has to come to "
        "a ModelReply with a Message of the role ASSISTANT, made of Text and ProposedCall"
    )


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of the type {type(value).__name__}"
