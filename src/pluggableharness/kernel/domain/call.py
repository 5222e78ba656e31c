"""A tool call on its way: what the model wrote, and what the kernel made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Failure
from pluggableharness.kernel.domain.values import JsonObject


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A tool_use block as the model wrote it.

    `tool_use_id` is the model's own id and pairs the result with the block; `arguments` is
    either parsed JSON or, when the vendor hands over text, that raw text. What is neither, as
    programs may propose it, becomes a text that says so, and is refused as any text that is no
    JSON object; so does what nests deeper than all that handles it later can follow.
    """

    tool_use_id: str
    name: str
    arguments: JsonObject | str

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, str):
            wrong = no_object(self.arguments)
            if wrong:
                object.__setattr__(self, "arguments", wrong)


@dataclass(frozen=True, slots=True)
class CallContext:
    """Where a call belongs and where its relative paths start (P9).

    `path` names the profiles from below the root session down to the call's own, for whoever
    is asked about it; the record and the provider do not get it.
    """

    session_id: str
    turn_id: str
    working_directory: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose operation exists and whose arguments conform to its input schema (P7, P8).

    `id` is the kernel's: unique, and carried by everything emitted about the call.
    `deadline_s` is how long Invoke may take, in seconds; None for no limit (K14). `places` is
    what the system said when the call was judged: from each absolute path that the call may
    write to, as it is written, to the real one that it led to, "" where that could not be told
    (K5a, K10a). It holds the working directory too. Empty where nobody has looked. `distrusted` was
    found by the same look: why its command line does more where it runs than its words say, "" when
    it does not (K7).
    """

    id: str
    operation: Operation
    arguments: JsonObject
    context: CallContext
    tool_use_id: str = ""
    deadline_s: float | None = None
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    distrusted: str = field(default="", compare=False)


def no_object(given: object) -> str:
    """Why a value is no JSON object that can be proposed; "" when it is one."""
    if not isinstance(given, Mapping):
        return f"a Python {type(given).__name__}"
    return _wrong_name(given)


_DEEPEST = 100
"""Levels that a proposal has at most: a schema allows far fewer, and Python's own recursion, which
ends somewhere beyond, is in the writing of JSON, for the record and for vendors."""


def _wrong_name(given: object, depth: int = 1) -> str:
    if isinstance(given, str | int):
        return ""
    if depth > _DEEPEST and isinstance(given, Mapping | list | tuple):
        return f"a Python object of more than {_DEEPEST} levels"
    if isinstance(given, Mapping):
        for name, value in given.items():
            if not isinstance(name, str):
                return f"a Python {type(given).__name__} with a name of type {type(name).__name__}"
            if wrong := _wrong_name(value, depth + 1):
                return wrong
    elif isinstance(given, list | tuple):
        return next(filter(None, (_wrong_name(value, depth + 1) for value in given)), "")
    return ""


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that never became one: unknown name, out of scope, or bad arguments (P8, K3)."""

    id: str
    tool_use_id: str
    name: str
    arguments: JsonObject | str
    failure: Failure
