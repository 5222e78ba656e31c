"""What passes between the model and the kernel."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.outcome import Outcome


class Role(Enum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the model thought before it went on, as far as its vendor shows it.

    `seal` is what the vendor wants back with the words, unchanged and opaque to all others.
    """

    text: str
    seal: bytes = b""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What the vendor wants back with the block that follows: opaque, and no part of its words."""

    data: bytes


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The one result of one tool_use block (K2).

    `note` is what the model must know beside it: that a person had changed the call (K10).
    """

    tool_use_id: str
    name: str
    outcome: Outcome
    note: str = ""


Block = Text | Thinking | Sealed | ProposedCall | ToolResult
"""A piece of a message; a ProposedCall is a tool_use block."""


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the history.

    `by` is the model that wrote it, as `ModelChoice.name` has it; "" for a person and for what
    is no vendor's. What is sealed in it is for that model's vendor alone.
    """

    role: Role
    blocks: tuple[Block, ...]
    id: str = ""
    by: str = ""

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ProposedCall, ...]:
        """The tool_use blocks, in the order written."""
        return tuple(block for block in self.blocks if isinstance(block, ProposedCall))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call; the cached ones are among those of the input."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The tokens of both."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


NOTHING_USED = Usage()


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One message of the model, and what it cost in tokens and dollars."""

    message: Message
    usage: Usage = NOTHING_USED
    cost_usd: float = 0.0
