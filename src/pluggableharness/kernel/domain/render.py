"""The render tree: what a preview or a recorded payload looks like, free of any screen."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.values import JsonObject


class TextStyle(Enum):
    """How a piece of text is meant; a frontend chooses what that looks like."""

    NORMAL = "normal"
    BOLD = "bold"
    ITALIC = "italic"
    CODE = "code"
    DIM = "dim"
    ERROR = "error"
    WARNING = "warning"
    SUCCESS = "success"


class DiffOp(Enum):
    """What happened to a line."""

    CONTEXT = "context"
    ADD = "add"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class TextNode:
    """Running text."""

    content: str
    style: TextStyle = TextStyle.NORMAL


@dataclass(frozen=True, slots=True)
class CodeBlockNode:
    """Text to be shown as it is; `language` for colouring, "" when unknown."""

    content: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk, without its line end."""

    op: DiffOp
    text: str


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """A run of changed lines; starts are counted from 1."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class DiffNode:
    """A unified diff."""

    hunks: tuple[DiffHunk, ...]


@dataclass(frozen=True, slots=True)
class TableNode:
    """Rows of text cells under headers."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class LinkNode:
    """A named address."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class ListNode:
    """Items one below the other."""

    items: tuple["RenderNode", ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class GroupNode:
    """Nodes that belong together."""

    children: tuple["RenderNode", ...]


@dataclass(frozen=True, slots=True)
class CollapsibleNode:
    """Nodes behind a summary."""

    summary: str
    children: tuple["RenderNode", ...]
    collapsed_by_default: bool = False


@dataclass(frozen=True, slots=True)
class SubSessionNode:
    """A pointer to a child session."""

    session_id: str
    summary: str


@dataclass(frozen=True, slots=True)
class ActionNode:
    """A call that a person may start from where it is shown."""

    id: str
    label: str
    provider: str
    tool_name: str
    arguments: JsonObject


RenderNode = (
    TextNode
    | CodeBlockNode
    | DiffNode
    | TableNode
    | LinkNode
    | ListNode
    | GroupNode
    | CollapsibleNode
    | SubSessionNode
    | ActionNode
)
"""Any node of a render tree."""
