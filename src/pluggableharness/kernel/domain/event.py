"""What a session's record is made of: events, each from a producer."""

from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """What an event is about; the text is what the record holds (K27).

    The first ten are those of the wire, which a provider may emit; the last three are the
    kernel's own.
    """

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    PLAN = "plan"
    APPLY = "apply"
    CONTEXT_CONTRIBUTION = "context_contribution"
    MEMORY_WRITE = "memory_write"
    MEMORY_UPDATE = "memory_update"
    MEMORY_DELETE = "memory_delete"
    HOOK_ERROR = "hook_error"
    DECISION = "decision"
    GRANT = "grant"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Producer:
    """Who an event comes from, as the kernel knows it and not as anyone claims (K28).

    `category` is the lower-case name of the wire's category ("tool", "model"), or "kernel".
    """

    name: str
    version: str = ""
    source: str = ""
    category: str = ""
    protocol_version: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the record (K27).

    `sequence` counts from 1 without gaps and is the only order there is; `time` is for
    people, in microseconds since 1970 UTC, and may run backwards when the clock is set.
    `kind` is an EventKind's text, or one that a later version of the kernel knows.
    `payload` is opaque here; `schema_version` says how to read it. `hash` covers this row
    and the one before it (K29).
    """

    sequence: int
    id: str
    time: int
    kind: str
    producer: Producer
    schema_version: str
    payload: bytes
    hash: bytes
