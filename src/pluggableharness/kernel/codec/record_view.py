"""A recorded payload as plain JSON for people and their tools, as far as it can be read.

Apart from the other record modules because protobuf's own JSON is slow to import and to run.
"""

from google.protobuf.json_format import Error, MessageToDict
from google.protobuf.message import DecodeError, Message

from pluggableharness.kernel.codec.json_text import JSON, json_value
from pluggableharness.kernel.codec.record import EVENT_V1
from pluggableharness.kernel.domain.event import Event, EventKind
from pluggableharness.kernel.domain.values import Json
from pluggableharness.wire import event_pb2

_MESSAGES: dict[str, type[Message]] = {
    EventKind.MESSAGE: event_pb2.MessageEvent,
    EventKind.TOOL_CALL: event_pb2.ToolCallEvent,
    EventKind.TOOL_RESULT: event_pb2.ToolResultEvent,
    EventKind.PLAN: event_pb2.PlanEvent,
    EventKind.APPLY: event_pb2.ApplyEvent,
    EventKind.CONTEXT_CONTRIBUTION: event_pb2.ContextContributionEvent,
    EventKind.MEMORY_WRITE: event_pb2.MemoryMutationEvent,
    EventKind.MEMORY_UPDATE: event_pb2.MemoryMutationEvent,
    EventKind.MEMORY_DELETE: event_pb2.MemoryMutationEvent,
    EventKind.HOOK_ERROR: event_pb2.HookErrorEvent,
}


def payload_view(event: Event) -> Json:
    """The payload as JSON, as protobuf's JSON has it for messages; None when it is in a form
    that only its producer knows."""
    try:
        if event.schema_version == JSON:
            value: Json = json_value(event.payload)
            return value
        if event.schema_version == EVENT_V1 and event.kind in _MESSAGES:
            message = _MESSAGES[event.kind]()
            message.ParseFromString(event.payload)
            return MessageToDict(message, preserving_proto_field_name=True)
    except (ValueError, DecodeError, Error):
        pass  # What a provider emitted is kept, readable or not.
    return None
