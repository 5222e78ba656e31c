"""What passes between the model and the kernel."""

from dataclasses import dataclass
from enum import Enum
from math import inf

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


INTERRUPTED = Text("[interrupted: the rest of this message never came]")
"""Stands last in what is kept of a message that a person broke off while it streamed (K17)."""


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
    def interrupted(self) -> bool:
        """Whether it is what was seen of a message before it was broken off."""
        return self.blocks[-1:] == (INTERRUPTED,)

    @property
    def calls(self) -> tuple[ProposedCall, ...]:
        """The tool_use blocks, in the order written."""
        return tuple(block for block in self.blocks if isinstance(block, ProposedCall))


_MOST_TOKENS = 2**53


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call; the cached ones are among those of the input.

    A number that no count can be, which vendors and programs send too, is not known: it is 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not _is_count(getattr(self, name)):
                object.__setattr__(self, name, 0)

    def __add__(self, other: "Usage") -> "Usage":
        """The tokens of both."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST_TOKENS


NOTHING_USED = Usage()


class Cut(Enum):
    """Why a message is not all that the model had to say, in words for whoever reads it."""

    LENGTH = "the answer was cut at the model's length limit"
    FILTER = "the answer was cut by its vendor's content filter"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One message of the model, and what it cost in tokens and dollars.

    `cut` is why its vendor ended it early; None for a whole one. A price that is no number of
    dollars is not known: it is 0.
    """

    message: Message
    usage: Usage = NOTHING_USED
    cost_usd: float = 0.0
    cut: Cut | None = None

    def __post_init__(self) -> None:
        cost: object = self.cost_usd
        if not isinstance(cost, int | float) or not 0 <= cost < inf:
            object.__setattr__(self, "cost_usd", 0.0)
