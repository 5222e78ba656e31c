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
    either parsed JSON or, when the vendor hands over text, that raw text.
    """

    tool_use_id: str
    name: str
    arguments: JsonObject | str


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
    (K5a, K10a). It holds the working directory too. Empty where nobody has looked.
    """

    id: str
    operation: Operation
    arguments: JsonObject
    context: CallContext
    tool_use_id: str = ""
    deadline_s: float | None = None
    places: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that never became one: unknown name, out of scope, or bad arguments (P8, K3)."""

    id: str
    tool_use_id: str
    name: str
    arguments: JsonObject | str
    failure: Failure
