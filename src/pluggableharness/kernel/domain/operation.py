"""What a provider declares: its operations, their schemas and how they may run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """Whether an operation mutates, reads, or waits for a person."""

    RESOURCE = "resource"
    DATA_SOURCE = "data_source"
    INTERACTIVE = "interactive"


class Risk(Enum):
    """How far an action can reach; READ_ONLY for whatever is not a resource."""

    READ_ONLY = "read_only"
    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"
    CRITICAL = "critical"


class SchemaType(Enum):
    """The five types of the schema subset (P6)."""

    OBJECT = "object"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Schema:
    """One node of the schema subset (P6).

    `properties` and `required` mean something for objects, `items` for arrays, `enum_values`
    for strings; the contract check refuses them elsewhere. An object without properties is
    an open map.
    """

    type: SchemaType
    description: str = ""
    properties: Mapping[str, "Schema"] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    items: "Schema | None" = None
    enum_values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Whether calls of an operation may run beside others, and what keeps two apart (P19-P21)."""

    safe: bool = False
    key_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a provider can do, after its declaration passed the contract (P1).

    `default_timeout_s` is in seconds; `concurrency` None counts as exclusive (P19) and is
    always None for an interactive operation (P4).
    """

    provider: str
    name: str
    kind: Kind
    risk: Risk
    description: str
    input_schema: Schema
    output_schema: Schema
    streaming: bool = False
    concurrency: Concurrency | None = None
    default_timeout_s: float | None = None
    idempotent: bool = False
    terminates_turn: bool = False

    @property
    def full_name(self) -> str:
        """`provider.operation`, the name under which people and policies speak of it (K3)."""
        return f"{self.provider}.{self.name}"

    @property
    def safe(self) -> bool:
        """Whether it may run beside other calls of its process."""
        return self.concurrency is not None and self.concurrency.safe
