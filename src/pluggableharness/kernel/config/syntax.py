"""What an HCL2 file is made of, unevaluated; every node knows where it stands."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from pluggableharness.kernel.config.source import Span


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, boolean or null."""

    span: Span
    value: bool | int | float | None


@dataclass(frozen=True, slots=True)
class Template:
    """A quoted string or a heredoc: texts, and expressions whose values stand between them.

    `quoted` tells the two apart: a quoted template of one expression alone is that value.
    """

    span: Span
    parts: "tuple[str | Expression, ...]"
    quoted: bool = True

    @property
    def text(self) -> str | None:
        """The whole text when nothing is to be evaluated, else None."""
        if any(not isinstance(part, str) for part in self.parts):
            return None
        return "".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]`."""

    span: Span
    items: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Item:
    """One `key = value` of an object; a key that is a bare word is a Template of that word."""

    span: Span
    key: "Expression"
    value: "Expression"


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{ key = value }`."""

    span: Span
    items: tuple[Item, ...]

    @property
    def named(self) -> dict[str, Item]:
        """The items whose key is fixed text, by it."""
        return {
            item.key.text: item
            for item in self.items
            if isinstance(item.key, Template) and item.key.text is not None
        }


@dataclass(frozen=True, slots=True)
class Name:
    """A bare word: a variable."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """`target.name`."""

    span: Span
    target: "Expression"
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`target[key]`, or `target.0`."""

    span: Span
    target: "Expression"
    key: "Expression"


@dataclass(frozen=True, slots=True)
class Invocation:
    """`name(arguments)`; `expands` when the last argument is a list of further ones."""

    span: Span
    name: str
    arguments: "tuple[Expression, ...]"
    expands: bool = False


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `!x`."""

    span: Span
    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`."""

    span: Span
    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? yes : no`."""

    span: Span
    condition: "Expression"
    yes: "Expression"
    no: "Expression"


@dataclass(frozen=True, slots=True)
class For:
    """`[for key, item in collection : value if condition]`; with `result_key` an object.

    `groups` collects the values of equal keys in lists.
    """

    span: Span
    key: str | None
    item: str
    collection: "Expression"
    result_key: "Expression | None"
    value: "Expression"
    condition: "Expression | None" = None
    groups: bool = False


Expression = (
    Literal
    | Template
    | ListOf
    | ObjectOf
    | Name
    | Attribute
    | Index
    | Invocation
    | Unary
    | Binary
    | Conditional
    | For
)


@dataclass(frozen=True, slots=True)
class Setting:
    """`name = value` in a body; `span` is the name's."""

    span: Span
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Block:
    """`type "label" { … }`; `span` is that of the type, `label_spans` those of the labels."""

    span: Span
    type: str
    labels: tuple[str, ...]
    label_spans: tuple[Span, ...]
    body: "Body"


@dataclass(frozen=True, slots=True)
class Body:
    """What stands in a file or between a block's braces, in the order in which it is written."""

    span: Span
    settings: tuple[Setting, ...]
    blocks: tuple[Block, ...]


def within(node: object) -> Iterator[object]:
    """Every node below and including this one, in no order, however deep."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, tuple):
            pending += node
        elif hasattr(node, "span"):
            # Every node is a dataclass.
            pending += [getattr(node, one.name) for one in fields(node)]  # type: ignore[arg-type]


def variable_of(value: Expression) -> str | None:
    """NAME when the expression is written exactly `env("NAME")`, else None (F6)."""
    match value:
        case Invocation(name="env", arguments=(Template(quoted=True) as name,), expands=False):
            return name.text
        case _:
            return None


def reads_environment(value: Expression) -> bool:
    """Whether any part of the expression asks for an environment variable."""
    return any(isinstance(node, Invocation) and node.name == "env" for node in within(value))
