"""Our history in the library's messages, so that every vendor takes it.

Whatever a model once wrote is made legal again on its way out: names, ids, arguments that are
no JSON, text that is not Unicode. What is in the history stays as it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.codec.json_text import json_bytes, json_value, unicode_text
from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import (
    Message,
    Role,
    Sealed,
    Text,
    Thinking,
    ToolResult,
)
from pluggableharness.kernel.domain.model_choice import Vendor
from pluggableharness.kernel.domain.naming import legal_name, vendor_name
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.models.failure_text import failure_text

_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What every vendor takes as the id of a call; OpenAI's limit of 40 is the shortest."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """Whom a history is for: the model's name in ours, and its vendor's in the library's words."""

    name: str
    system: str

    def wrote(self, message: Message) -> bool:
        """Whether a message is of a model whose vendor can check what is sealed in it.

        Services behind a compatible interface have nothing in common: there it is the model.
        """
        if self.name.startswith(Vendor.COMPATIBLE.value):
            return message.by == self.name
        return message.by.partition(":")[0] == self.name.partition(":")[0]


def library_messages(history: Sequence[Message], to: Recipient) -> list[ModelMessage]:
    """The history as the library sends it; messages of one speaker in a row become one."""
    ids = _Ids()
    messages: list[ModelMessage] = []
    for message in history:
        if message.role is Role.ASSISTANT:
            said = tuple(_said(message, ids, to))
            if said:
                system = to.system if to.wrote(message) else None
                messages.append(ModelResponse(parts=said, provider_name=system))
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


def tools_of_history(
    history: Sequence[Message], known: Mapping[str, ToolDefinition]
) -> list[ToolDefinition]:
    """A definition for every name that the history calls, and all that are known, if it does."""
    called = {legal_name(call.name) for message in history for call in message.calls}
    if not called:
        return []
    anything = {"type": "object", "properties": {}}
    strange = sorted(called - known.keys())
    return [
        *known.values(),
        *(ToolDefinition(name=name, parameters_json_schema=anything) for name in strange),
    ]


def _said(message: Message, ids: "_Ids", to: Recipient) -> Iterator[ModelResponsePart]:
    """The model's own words, with what its vendor wants back when they go to it again.

    Of what another's model thought nothing is sent: no vendor can check it.
    """
    ids.next_message()
    own = to.wrote(message)
    seal: dict[str, Any] = {}
    for block in message.blocks:
        match block:
            case Sealed(data):
                seal = _opened(data, to.system) if own else {}
                continue
            case Thinking(text, proof):
                if own:
                    yield ThinkingPart(unicode_text(text), **_opened(proof, to.system))
            case Text(text):
                if text:
                    yield TextPart(unicode_text(text), **seal)
            case ProposedCall(tool_use_id, name, arguments):
                own_id = ids.of_call(tool_use_id)
                yield ToolCallPart(legal_name(name), _object(arguments), own_id, **seal)
            case ToolResult():
                pass  # a result is never the model's own
            case _:
                assert_never(block)
        seal = {}


def _opened(seal: bytes, system: str) -> dict[str, Any]:
    """The fields of the library's part that a seal stands for; none for what is no seal."""
    try:
        facts = json_value(seal) if seal else {}
    except ValueError:
        return {}
    fields = {"id": "id", "signature": "signature", "details": "provider_details"}
    known = {fields[name]: value for name, value in facts.items() if name in fields}
    return {**known, "provider_name": system}


def _heard(message: Message, ids: "_Ids") -> Iterator[ModelRequestPart]:
    for block in message.blocks:
        match block:
            case Text(text):
                if text:
                    yield UserPromptPart(unicode_text(text))
            case ToolResult():
                yield _returned(block, ids.of_result(block.tool_use_id))
            case ProposedCall() | Thinking() | Sealed():
                pass  # a person proposes nothing, and thinks elsewhere
            case _:
                assert_never(block)


def _object(arguments: Any) -> dict[str, Any]:
    """The arguments as an object; what is none is shown to the model under one name."""
    if isinstance(arguments, str):
        return {"not_an_object": unicode_text(arguments)}
    cleaned: dict[str, Any] = json_value(json_bytes(arguments))
    return cleaned


def _returned(result: ToolResult, call_id: str) -> ToolReturnPart:
    outcome, note = result.outcome, f"{unicode_text(result.note)}\n" if result.note else ""
    if isinstance(outcome, Success):
        text = note + json_bytes(outcome.payload).decode()
        return ToolReturnPart(legal_name(result.name), text, call_id)
    # The library marks it as an error, in the way of each vendor.
    text = note + failure_text(outcome)
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
