"""A rule of policy, and how it ranks among others (K4, K5)."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Reviewer


class Action(Enum):
    """What a rule says.

    FORBID is a deny that nothing overrides (K5); REVIEW hands the call to a reviewer (K8).
    """

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    FORBID = "forbid"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a rule was written; `line` and `column` count from 1, and 0 is an unknown column."""

    file: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        """The position as editors take it."""
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}"


@dataclass(frozen=True, slots=True)
class Example:
    """A call that a rule must match, or must not; tried when the rule is loaded (F11)."""

    arguments: JsonObject
    matches: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One `policy` block.

    Each of the four fields is a set of values of which one must be the operation's, or None
    when the rule does not name it; an empty set matches nothing. `tool_name` is an operation's
    own name, without its provider. `when` is a condition on the call, "" when there is none.
    `granted` marks what a person once allowed beyond one call: it yields to every deny and
    beats an ask of equal rank (K10). Such a rule holds for the operation as it was then: `declared`
    is the digest of that declaration, None when it is bound to none, and `void` says why it holds
    no longer (F4). `reviewer` is who is asked when the action is REVIEW.
    """

    name: str
    action: Action
    tool_name: frozenset[str] | None = None
    provider: frozenset[str] | None = None
    risk: frozenset[Risk] | None = None
    kind: frozenset[Kind] | None = None
    reason: str = ""
    position: Position | None = None
    when: str = ""
    examples: tuple[Example, ...] = ()
    reviewer: Reviewer | None = None
    granted: bool = False
    declared: str | None = None
    void: str = ""

    @property
    def match(self) -> tuple[frozenset[object] | None, ...]:
        """The four fields, the weightiest first."""
        return (self.tool_name, self.provider, self.risk, self.kind)

    @property
    def named(self) -> dict[str, list[str]]:
        """The fields that it names, each with its values in the words of agent.hcl."""
        risk = None if self.risk is None else {one.value for one in self.risk}
        kind = None if self.kind is None else {one.value for one in self.kind}
        fields = {
            "provider": self.provider,
            "tool_name": self.tool_name,
            "risk": risk,
            "kind": kind,
        }
        return {name: sorted(values) for name, values in fields.items() if values is not None}

    @property
    def full_names(self) -> list[str]:
        """The operations that it names by provider and tool."""
        return [f"{one}.{tool}" for one in self.provider or () for tool in self.tool_name or ()]

    @property
    def rank(self) -> tuple[bool, ...]:
        """Which fields it names: compared as tuples, the greater is the more specific (K4).

        A condition counts last: more than none, and less than any field (K7).
        """
        return (*(values is not None for values in self.match), bool(self.when))

    def matches(self, operation: Operation) -> bool:
        """Whether its fields speak of the operation; its condition is not looked at."""
        return (
            (self.tool_name is None or operation.name in self.tool_name)
            and (self.provider is None or operation.provider in self.provider)
            and (self.risk is None or operation.risk in self.risk)
            and (self.kind is None or operation.kind in self.kind)
        )

    def lapse(self, declared: str) -> str:
        """Why it holds no longer for an operation with that digest; "" while it does (F4)."""
        if self.void:
            return f"{self} is void: {self.void}"
        if self.declared is None:
            return ""
        if not self.declared:
            return f"{self} holds no longer: it does not say for which declaration it was given"
        if self.declared == declared:
            return ""
        return f"{self} holds no longer: what it was given for has since been declared otherwise"

    def __str__(self) -> str:
        """The rule as messages name it."""
        return f'policy "{self.name}"' + (f" ({self.position})" if self.position else "")
