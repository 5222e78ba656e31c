"""What a vendor's model said, in our message: names mapped back, and nothing lost (K3, P8)."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from pluggableharness.kernel.codec.json_text import json_bytes
from pluggableharness.kernel.domain.call import ProposedCall, no_object
from pluggableharness.kernel.domain.message import Block, Message, Role, Sealed, Text, Thinking
from pluggableharness.kernel.domain.values import JsonObject


def message_of(response: ModelResponse, names: Mapping[str, str], by: str) -> Message:
    """The message; `names` are full names by those that the vendor knows, `by` who says it."""
    blocks: list[Block] = []
    for part in response.parts:
        # A message that reached its longest may end within the arguments of its last call.
        whole = response.finish_reason != "length" or part is not response.parts[-1]
        blocks += _blocks(part, names, whole)
    return Message(Role.ASSISTANT, tuple(blocks), by=by)


def _blocks(part: ModelResponsePart, names: Mapping[str, str], whole: bool) -> Iterator[Block]:
    match part:
        case TextPart(content=text):
            if text:
                yield from _sealed(part)
                yield Text(text)
        case ThinkingPart(content=text):
            yield Thinking(text, _seal(part) or b"")
        case ToolCallPart(tool_name=name):
            yield from _sealed(part)
            arguments = _arguments(part.args) if whole or part.args else ""
            yield ProposedCall(part.tool_call_id, names.get(name, name), arguments)
        case _:
            pass  # what a vendor's own tools did: none of them is ever offered


def _sealed(part: TextPart | ToolCallPart) -> Iterator[Sealed]:
    seal = _seal(part)
    if seal is not None:
        yield Sealed(seal)


def _seal(part: TextPart | ThinkingPart | ToolCallPart) -> bytes | None:
    """What the vendor wants back with the part; None when there is nothing."""
    facts = {
        "id": part.id,
        "signature": part.signature if isinstance(part, ThinkingPart) else None,
        "details": part.provider_details,
    }
    kept = {name: value for name, value in facts.items() if value}
    return json_bytes(kept) if kept else None


def _arguments(written: Any) -> JsonObject | str:
    """An object where the text is one that can be proposed, else the text, to be refused.

    No text at all is no argument: that is how vendors write a call of what takes none.
    """
    if not isinstance(written, str):
        return written or {}
    if not written:
        return {}
    try:
        value = json.loads(
            written,
            object_pairs_hook=_unique,
            parse_constant=_refused,
            parse_float=_finite,
        )
    except (ValueError, RecursionError):
        return written
    return written if no_object(value) else value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name twice")
    return value


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(written)
    return value
