"""Our history in the library's messages, so that every vendor takes it.

Whatever a model once wrote is made legal again on its way out: names, ids, arguments that are
no JSON, text that is not Unicode. What is in the history stays as it is.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.codec.json_text import json_bytes, json_value, unicode_text
from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import Message, Role, Text, ToolResult
from pluggableharness.kernel.domain.naming import legal_name, vendor_name
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Success

_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What every vendor takes as the id of a call; OpenAI's limit of 40 is the shortest."""


def library_messages(history: Sequence[Message]) -> list[ModelMessage]:
    """The history as the library sends it; messages of one speaker in a row become one."""
    ids = _Ids()
    messages: list[ModelMessage] = []
    for message in history:
        if message.role is Role.ASSISTANT:
            said = tuple(_said(message, ids))
            if said:
                messages.append(ModelResponse(parts=said))
            continue
        heard = tuple(_heard(message, ids))
        last = messages[-1] if messages else None
        if isinstance(last, ModelRequest):
            messages[-1] = ModelRequest(parts=(*last.parts, *heard))
        elif heard:
            messages.append(ModelRequest(parts=heard))
    return messages


def tool_definition(operation: Operation) -> ToolDefinition:
    """An operation as a vendor offers it to the model (K3)."""
    return ToolDefinition(
        name=vendor_name(operation),
        description=unicode_text(operation.description),
        parameters_json_schema={"properties": {}, **to_json_schema(operation.input_schema)},
    )


def _said(message: Message, ids: "_Ids") -> Iterator[ModelResponsePart]:
    ids.next_message()
    for block in message.blocks:
        match block:
            case Text(text):
                if text:
                    yield TextPart(unicode_text(text))
            case ProposedCall(tool_use_id, name, arguments):
                yield ToolCallPart(legal_name(name), _object(arguments), ids.of_call(tool_use_id))
            case ToolResult():
                pass  # a result is never the model's own
            case _:
                assert_never(block)


def _heard(message: Message, ids: "_Ids") -> Iterator[ModelRequestPart]:
    for block in message.blocks:
        match block:
            case Text(text):
                if text:
                    yield UserPromptPart(unicode_text(text))
            case ToolResult():
                yield _returned(block, ids.of_result(block.tool_use_id))
            case ProposedCall():
                pass  # a person proposes nothing
            case _:
                assert_never(block)


def _object(arguments: Any) -> dict[str, Any]:
    """The arguments as an object; what is none is shown to the model under one name."""
    if isinstance(arguments, str):
        return {"not_an_object": unicode_text(arguments)}
    cleaned: dict[str, Any] = json_value(json_bytes(arguments))
    return cleaned


def _returned(result: ToolResult, call_id: str) -> ToolReturnPart:
    outcome = result.outcome
    if isinstance(outcome, Success):
        text = json_bytes(outcome.payload).decode()
        return ToolReturnPart(legal_name(result.name), text, call_id)
    error: dict[str, Any] = {"category": outcome.category.value, "message": outcome.message}
    if outcome.details:
        error["details"] = outcome.details
    text = json_bytes({"error": error}).decode()
    return ToolReturnPart(legal_name(result.name), text, call_id, outcome="failed")


class _Ids:
    """Gives every call of a history an id that no other has and every vendor takes.

    A result belongs to the first call of the message before it that has the same id and no
    result yet: a model may use an id twice.
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._open: list[tuple[str, str]] = []
        self._count = 0

    def next_message(self) -> None:
        """Let the calls of the message before be answered no more."""
        self._open = []

    def of_call(self, written: str) -> str:
        """The id of the next call."""
        self._count += 1
        legal = written
        if written in self._used or not _LEGAL_ID.fullmatch(written):
            legal = f"call_{self._count}"
            while legal in self._used:
                legal += "_"
        self._used.add(legal)
        self._open.append((written, legal))
        return legal

    def of_result(self, written: str) -> str:
        """The id of the call that a result answers."""
        for place, (as_written, legal) in enumerate(self._open):
            if as_written == written:
                del self._open[place]
                return legal
        return self.of_call(written)
