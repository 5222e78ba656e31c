"""Each vendor's documented stream becomes our message, and our history its request (K36)."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from model_server import Recorded, Reply
from unit.models.vendors import (
    ALL,
    ANTHROPIC,
    ASKED,
    COMPATIBLE,
    GOOGLE,
    OPENAI,
    Listener,
    Spoken,
    answered,
    one_reply,
)
from unit.turn.doubles import operation

from pluggableharness.kernel.codec.record_messages import message_payload, read_message
from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import Message, Role, Sealed, Text, Thinking, Usage
from pluggableharness.kernel.domain.operation import Schema, SchemaType

every_vendor = pytest.mark.parametrize("spoken", ALL, ids=lambda one: one.vendor.value)


def thinks(spoken: Spoken) -> Recorded:
    return Recorded(f"{spoken.stream}-thinks-says-and-calls.events")


def says(spoken: Spoken) -> Recorded:
    return Recorded(f"{spoken.stream}-says.events")


def words(message: Message) -> list[object]:
    """The blocks of a message without what is sealed."""
    return [
        Thinking(block.text) if isinstance(block, Thinking) else block
        for block in message.blocks
        if not isinstance(block, Sealed) and block != Thinking("", getattr(block, "seal", b""))
    ]


@pytest.mark.req("K36", "K3")
@every_vendor
async def test_text_streams_and_thinking_and_calls_arrive(spoken: Spoken) -> None:
    listener = Listener()
    reply, _ = await one_reply(spoken, thinks(spoken), listener=listener)
    assert listener.texts == ["I will ", "look."]
    *said, first, second = words(reply.message)
    assert said == [Thinking("I have to look first."), Text("I will look.")]
    assert isinstance(first, ProposedCall)
    assert isinstance(second, ProposedCall)
    assert (first.name, first.arguments) == ("toy.look", {"x": "a.txt"})
    assert (second.name, second.arguments) == ("toy.list", {})
    assert first.tool_use_id != second.tool_use_id
    assert reply.message.by == spoken.name


@pytest.mark.req("K36")
@every_vendor
async def test_tokens_are_counted_with_those_of_the_cache(spoken: Spoken) -> None:
    reply, _ = await one_reply(spoken, thinks(spoken))
    written = 20 if spoken in (ANTHROPIC, OPENAI) else 0
    assert reply.usage == Usage(160, 50, 100, written)


@pytest.mark.req("K36", "K20")
async def test_a_message_costs_what_the_vendors_list_says() -> None:
    reply, _ = await one_reply(GOOGLE, says(GOOGLE))
    # 100,000 tokens in at $1.25 a million, as many out at $10.
    assert reply.cost_usd == pytest.approx(0.125 + 1.0)


@pytest.mark.req("K36", "K20")
async def test_an_unknown_price_is_said_and_counts_nothing() -> None:
    listener = Listener()
    reply, _ = await one_reply(COMPATIBLE, says(COMPATIBLE), listener=listener)
    assert reply.cost_usd == 0
    assert listener.notices == [
        "The price of openai-compatible:small is not known: it counts as $0."
    ]


SKIP = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What Google documents for a call that none of its models has signed."""


def thoughts(spoken: Spoken, request: dict[str, Any]) -> list[Any]:
    """What a request carries of the vendor's own thinking, as the vendor documents it."""
    if spoken is ANTHROPIC:
        blocks = [b for m in request["messages"] for b in m["content"]]
        return [b for b in blocks if "thinking" in b["type"]]
    if spoken is OPENAI:
        return [one for one in request["input"] if one.get("type") == "reasoning"]
    if spoken is GOOGLE:
        parts = [p for c in request["contents"] for p in c["parts"]]
        return [p for p in parts if p.get("thought") or p.get("thoughtSignature", SKIP) != SKIP]
    return [m["reasoning_content"] for m in request["messages"] if "reasoning_content" in m]


SENT_BACK: dict[str, list[Any]] = {
    "anthropic": [
        {
            "type": "thinking",
            "thinking": "I have to look first.",
            "signature": "c2lnbmVkIGJ5IHRoZSB2ZW5kb3I=",
        },
        {"type": "redacted_thinking", "data": "c2VhbGVk"},
    ],
    "openai": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "I have to look first."}],
            "encrypted_content": "c2VhbGVk",
        }
    ],
    "google": [
        {"text": "I have to look first.", "thought": True},
        {
            "functionCall": {"name": "toy__look", "args": {"x": "a.txt"}},
            "thoughtSignature": "c2VhbGVk",
        },
    ],
    "openai-compatible": ["I have to look first."],
}


@pytest.mark.req("K36", "K30")
@every_vendor
async def test_thinking_goes_back_to_its_vendor_unchanged_also_after_a_resume(
    spoken: Spoken,
) -> None:
    reply, _ = await one_reply(spoken, thinks(spoken))
    payload = message_payload(reply.message, spoken.name, reply.usage, reply.cost_usd)
    recorded = read_message(payload)
    assert recorded.reply == reply
    said = recorded.reply.message
    _, server = await one_reply(spoken, says(spoken), (ASKED, said, answered(said)))
    found = thoughts(spoken, server.requests[0])
    for part in found:
        if isinstance(part, dict) and "functionCall" in part:
            part["functionCall"].pop("id", None)
    assert found == SENT_BACK[spoken.vendor.value]


@pytest.mark.req("K36", "F10")
@pytest.mark.parametrize("before", ALL, ids=lambda one: f"from-{one.vendor.value}")
@pytest.mark.parametrize("after", ALL, ids=lambda one: f"to-{one.vendor.value}")
async def test_a_history_goes_on_with_another_vendor_without_the_thinking_of_the_first(
    before: Spoken, after: Spoken
) -> None:
    if before is after:
        return
    reply, _ = await one_reply(before, thinks(before))
    said = reply.message
    _, server = await one_reply(after, says(after), (ASKED, said, answered(said)))
    (request,) = server.requests
    assert thoughts(after, request) == []
    sent = json.dumps(request)
    assert "I have to look first" not in sent
    assert "c2VhbGVk" not in sent
    assert "I will look." in sent
    assert sent.count("toy__look") >= 2


@pytest.mark.req("K20")
@every_vendor
async def test_the_last_turn_offers_no_call_though_its_history_has_some(spoken: Spoken) -> None:
    call = ProposedCall("use-1", "toy.look", {"x": "1"})
    strange = ProposedCall("use-2", "made up!", {})
    said = Message(Role.ASSISTANT, (Text("Looking."), call, strange))
    history = (ASKED, said, answered(said), Message(Role.USER, (Text("Say what was done."),)))
    reply, server = await one_reply(spoken, says(spoken), history, ())
    assert reply.message.text == "It is done."
    (request,) = server.requests
    forbidden = {
        "anthropic": request.get("tool_choice") == {"type": "none"},
        "openai": request.get("tool_choice") == "none",
        "google": request.get("toolConfig") == {"functionCallingConfig": {"mode": "NONE"}},
        "openai-compatible": request.get("tool_choice") == "none",
    }
    assert forbidden[spoken.vendor.value]
    assert "toy__look" in json.dumps(request["tools"])


@pytest.mark.req("K36")
@every_vendor
async def test_without_tools_anywhere_none_is_defined(spoken: Spoken) -> None:
    _, server = await one_reply(spoken, says(spoken), offered=())
    assert not server.requests[0].get("tools")


@pytest.mark.req("K3", "P6")
async def test_tools_are_described_by_their_schema_and_a_legal_name() -> None:
    schema = Schema(
        SchemaType.OBJECT,
        properties={
            "mode": Schema(SchemaType.STRING, "how", enum_values=("a", "b")),
            "lines": Schema(SchemaType.ARRAY, items=Schema(SchemaType.NUMBER)),
        },
        required=("mode",),
    )
    odd = replace(operation("x" * 80), input_schema=schema)
    _, server = await one_reply(COMPATIBLE, Reply("Fine."), offered=(odd,))
    (tool,) = server.requests[0]["tools"]
    assert len(tool["function"]["name"]) <= 64
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "description": "how", "enum": ["a", "b"]},
            "lines": {"type": "array", "items": {"type": "number"}},
        },
        "additionalProperties": False,
        "required": ["mode"],
    }
    name = tool["function"]["name"]
    named = Recorded("chat-thinks-says-and-calls.events", [("toy__look", name)])
    reply, _ = await one_reply(COMPATIBLE, named, offered=(odd,))
    assert reply.message.calls[0].name == odd.full_name
