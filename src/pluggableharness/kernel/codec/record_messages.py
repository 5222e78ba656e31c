"""Messages of the history as payloads of the record, and back (K27).

A lone surrogate in text becomes its escape, as `json_text` has it: no message of the wire can
hold one.
"""

from typing import Any, assert_never

from pluggableharness.kernel.codec.enums import members, numbers
from pluggableharness.kernel.codec.json_text import json_bytes, json_value, unicode_text
from pluggableharness.kernel.codec.record_objects import (
    member,
    object_to_struct,
    parsed,
    written_from_struct,
)
from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import (
    Block,
    Message,
    ModelReply,
    Role,
    Sealed,
    Text,
    Thinking,
    ToolResult,
    Usage,
)
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.recorded import RecordedMessage
from pluggableharness.wire import common_pb2, content_pb2, event_pb2, model_pb2

_ROLES = members(Role, content_pb2.Role, "ROLE")
_ROLE_NUMBERS = numbers(Role, content_pb2.Role, "ROLE")


def message_payload(message: Message, model: str, usage: Usage, cost_usd: float) -> bytes:
    """A MessageEvent; `model` is "" for a person's message."""
    event = event_pb2.MessageEvent(
        message=message_to_wire(message),
        usage=_usage_to_wire(usage),
        cost_usd=cost_usd,
    )
    if model:
        event.model.name = unicode_text(model)
        event.model.category = common_pb2.CATEGORY_MODEL
    return event.SerializeToString()


def read_message(payload: bytes) -> RecordedMessage:
    """Read a MessageEvent. Raises ValueError for what this module did not write."""
    event = parsed(event_pb2.MessageEvent(), payload)
    used = event.usage
    usage = Usage(
        used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens
    )
    reply = ModelReply(message_from_wire(event.message), usage, event.cost_usd)
    return RecordedMessage(reply, event.model.name)


def _usage_to_wire(usage: Usage) -> model_pb2.Usage:
    return model_pb2.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
    )


def message_to_wire(message: Message) -> content_pb2.Message:
    """Return a message as the wire has it."""
    provider, _, model = unicode_text(message.by).partition(":")
    return content_pb2.Message(
        role=_ROLE_NUMBERS[message.role],
        content=[_block_to_wire(block) for block in message.blocks],
        id=message.id,
        produced_by_provider=provider or None,
        produced_by_model_id=model or None,
    )


def message_from_wire(raw: content_pb2.Message) -> Message:
    """Return what `message_to_wire` was given. Raises ValueError for what it did not write."""
    blocks = tuple(_block_from_wire(block) for block in raw.content)
    by = f"{raw.produced_by_provider}:{raw.produced_by_model_id}"
    return Message(member(_ROLES, raw.role), blocks, raw.id, "" if by == ":" else by)


def _block_to_wire(block: Block) -> content_pb2.ContentBlock:
    match block:
        case Text(text):
            return content_pb2.ContentBlock(text=content_pb2.TextBlock(text=unicode_text(text)))
        case Thinking(text, seal):
            thinking = content_pb2.ThinkingBlock(text=unicode_text(text), signature=seal)
            return content_pb2.ContentBlock(thinking=thinking)
        case Sealed(data):
            sealed = content_pb2.RedactedThinkingBlock(data=data)
            return content_pb2.ContentBlock(redacted_thinking=sealed)
        case ProposedCall(tool_use_id, name, arguments):
            use = content_pb2.ToolUseBlock(
                id=unicode_text(tool_use_id),
                name=unicode_text(name),
                arguments=object_to_struct(arguments),
            )
            return content_pb2.ContentBlock(tool_use=use)
        case ToolResult():
            return content_pb2.ContentBlock(tool_result=_result_to_wire(block))
        case _:
            assert_never(block)


def _block_from_wire(raw: content_pb2.ContentBlock) -> Block:
    match raw.WhichOneof("block"):
        case "text":
            return Text(raw.text.text)
        case "thinking":
            return Thinking(raw.thinking.text, raw.thinking.signature)
        case "redacted_thinking":
            return Sealed(raw.redacted_thinking.data)
        case "tool_use":
            use = raw.tool_use
            return ProposedCall(use.id, use.name, written_from_struct(use.arguments))
        case "tool_result":
            return _result_from_wire(raw.tool_result)
        case other:
            raise ValueError(f"a content block that the kernel does not write: {other}")


def _result_to_wire(result: ToolResult) -> content_pb2.ToolResultBlock:
    """One text block of JSON: the block of the wire has no place for a name or a category."""
    outcome = result.outcome
    content: dict[str, Any] = {"name": result.name}
    if result.note:
        content["note"] = result.note
    match outcome:
        case Success(payload):
            content["result"] = payload
        case Failure(category, message, retryable, details):
            content["error"] = {
                "category": category.value,
                "message": message,
                "retryable": retryable,
                "details": details,
            }
        case _:
            assert_never(outcome)
    text = content_pb2.TextBlock(text=json_bytes(content).decode())
    return content_pb2.ToolResultBlock(
        tool_use_id=unicode_text(result.tool_use_id),
        content=[content_pb2.ContentBlock(text=text)],
        is_error=isinstance(outcome, Failure),
    )


def _result_from_wire(raw: content_pb2.ToolResultBlock) -> ToolResult:
    try:
        content = json_value("".join(block.text.text for block in raw.content))
        if raw.is_error:
            error = content["error"]
            outcome: Outcome = Failure(
                ErrorCategory(error["category"]),
                error["message"],
                error["retryable"],
                error["details"],
            )
        else:
            outcome = Success(content["result"])
        return ToolResult(raw.tool_use_id, content["name"], outcome, content.get("note", ""))
    except (KeyError, TypeError) as error:
        raise ValueError(f"a tool result without {error}") from None
