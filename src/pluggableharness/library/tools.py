"""Gated operations as tools with a JSON schema, for agents of any other library (K34).

A tool is a name, a description, a schema and an awaitable call. The call passes policy and the
gate and is recorded, and comes back as the text that a model is to read, whatever it came to:
what was denied too.
"""

from dataclasses import dataclass
from functools import cached_property

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.codec.json_text import json_bytes
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.models.failure_text import failure_text
from pluggableharness.kernel.session.outside import OutsideCalls


@dataclass(frozen=True)
class Tool:
    """An operation as models know tools; made by `tools`."""

    operation: Operation
    calls: OutsideCalls

    @property
    def name(self) -> str:
        """Letters that every vendor takes, unique: `provider__operation` (K3)."""
        return vendor_name(self.operation)

    @property
    def description(self) -> str:
        """What the operation does, as its provider declares it."""
        return self.operation.description

    @cached_property
    def schema(self) -> dict[str, Json]:
        """The JSON schema of its arguments, an object."""
        return to_json_schema(self.operation.input_schema)

    async def run(self, arguments: JsonObject | str) -> Outcome:
        """Make the call, and return how it ended; arguments may be raw JSON text.

        Cancelling the caller cancels the call. Raises RecordFailed.
        """
        return await self.calls.call(self.operation.full_name, arguments)

    async def __call__(self, /, **arguments: Json) -> str:
        """Make the call, and return what a model is to read of it. Raises RecordFailed."""
        return text_of(await self.run(arguments))


def tools(calls: OutsideCalls) -> tuple[Tool, ...]:
    """Everything that may be called in a session, as tools."""
    return tuple(Tool(operation, calls) for operation in calls.operations)


def text_of(outcome: Outcome) -> str:
    """An outcome as a model reads it: the payload as JSON, or the error, which says so."""
    if isinstance(outcome, Success):
        return json_bytes(outcome.payload).decode()
    return f"error: {failure_text(outcome)}"
