"""What goes wrong at a vendor, over real connections, and what we make of it (K21, P8, R6)."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from model_server import Call, ModelServer, Played, Recorded, Reply
from pydantic_ai import exceptions
from pydantic_ai.exceptions import ModelAPIError
from unit.models.vendors import (
    ALL,
    ANTHROPIC,
    ASKED,
    COMPATIBLE,
    GOOGLE,
    KEY,
    OPENAI,
    TOOLS,
    Listener,
    Spoken,
    answered,
    answering,
    one_reply,
)

from pluggableharness.kernel.domain.message import Message, Role, Text
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.models.fault import FaultKind, ModelFault
from pluggableharness.kernel.models.patience import Patience

every_vendor = pytest.mark.parametrize("spoken", ALL, ids=lambda one: one.vendor.value)
ONCE = Patience(retries=0)


async def fault_of(spoken: Spoken, played: Played) -> tuple[ModelFault, ModelServer, Listener]:
    """How the one asking fails that a reply is the answer to."""
    listener = Listener()
    with ModelServer([played]) as server:
        async with answering(spoken.choice(server), patience=ONCE) as model:
            with pytest.raises(ModelFault) as raised:
                await model.reply([ASKED], TOOLS, listener)
    return raised.value, server, listener


def refusal(code_of_http: int, headers: Mapping[str, str] | None = None, /, **error: Any) -> Reply:
    return Reply(status=code_of_http, error=error, headers=headers or {})


REFUSALS: list[tuple[Spoken, Reply, FaultKind, str]] = [
    (ANTHROPIC, refusal(429, type="rate_limit_error", message="slow down"), FaultKind.PASSING,
     "was asked too much at once. It says: slow down"),
    (ANTHROPIC, refusal(529, type="overloaded_error", message="Overloaded"), FaultKind.PASSING,
     "is overloaded"),
    (ANTHROPIC, refusal(500, type="api_error", message="Internal"), FaultKind.PASSING,
     "is not to be had right now"),
    (ANTHROPIC, refusal(400, type="invalid_request_error",
     message="prompt is too long: 210000 tokens > 200000 maximum"), FaultKind.TOO_LONG,
     "name a fallback with a larger window in agent.hcl"),
    (ANTHROPIC, refusal(401, type="authentication_error", message="invalid x-api-key"),
     FaultKind.HOPELESS, "does not accept the key in KEY"),
    (ANTHROPIC, refusal(404, type="not_found_error", message="model: claude-9"),
     FaultKind.HOPELESS, "Check the model's id"),
    (ANTHROPIC, refusal(400, type="invalid_request_error", message="messages: odd"),
     FaultKind.HOPELESS, "refuses the request. It says: messages: odd"),
    (OPENAI, refusal(429, code="rate_limit_exceeded", message="slow down"), FaultKind.PASSING,
     "was asked too much at once"),
    (OPENAI, refusal(429, code="insufficient_quota", message="You exceeded your quota"),
     FaultKind.HOPELESS, "has used up what it may"),
    (OPENAI, refusal(503, message="The server is overloaded"), FaultKind.PASSING,
     "is overloaded"),
    (OPENAI, refusal(400, code="context_length_exceeded", message="too long"),
     FaultKind.TOO_LONG, "resumed with this model, it ends the same way. Start a new session"),
    (OPENAI, refusal(401, code="invalid_api_key", message=f"Incorrect API key: {KEY}"),
     FaultKind.HOPELESS, "does not accept the key in KEY. Check"),
    (GOOGLE, refusal(429, code=429, status="RESOURCE_EXHAUSTED", message="slow down"),
     FaultKind.PASSING, "was asked too much at once"),
    (GOOGLE, refusal(503, code=503, status="UNAVAILABLE", message="The model is overloaded."),
     FaultKind.PASSING, "is overloaded"),
    (GOOGLE, refusal(400, code=400, status="INVALID_ARGUMENT",
     message="The input token count (9) exceeds the maximum number of tokens allowed (8)."),
     FaultKind.TOO_LONG, "cannot read a session of this length"),
    (GOOGLE, refusal(400, code=400, status="INVALID_ARGUMENT", message="API key not valid.",
     details=[{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]),
     FaultKind.HOPELESS, "does not accept the key in KEY"),
    (COMPATIBLE, refusal(404, message="model 'small' not found"), FaultKind.HOPELESS,
     "does not exist there"),
    (COMPATIBLE, refusal(400, message="This model's maximum context length is 8 tokens"),
     FaultKind.TOO_LONG, "cannot read a session of this length"),
]  # fmt: skip


@pytest.mark.req("K21")
@pytest.mark.parametrize(
    ("spoken", "reply", "kind", "words"),
    REFUSALS,
    ids=[f"{one[0].vendor.value}-{one[1].status}-{n}" for n, one in enumerate(REFUSALS)],
)
async def test_a_refusal_says_what_it_is_and_what_to_do(
    spoken: Spoken, reply: Reply, kind: FaultKind, words: str
) -> None:
    fault, server, _ = await fault_of(spoken, reply)
    assert fault.kind is kind
    assert words in str(fault)
    assert spoken.name in str(fault)
    assert KEY not in str(fault)
    assert len(server.requests) == 1, "no library asks again behind our back"


@pytest.mark.req("K21")
@every_vendor
@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        ("7", 7, 7),
        ("0", 0, 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Wed, 21 Oct 2195 07:28:00 GMT", 1e9, 1e11),
    ],
)
async def test_the_vendors_wish_to_be_left_alone_is_heard(
    spoken: Spoken, header: str, low: float, high: float
) -> None:
    reply = refusal(429, {"Retry-After": header}, message="slow down")
    fault, _, _ = await fault_of(spoken, reply)
    assert fault.retry_after_s is not None
    assert low <= fault.retry_after_s <= high


@pytest.mark.req("K21")
@every_vendor
async def test_a_stream_that_is_cut_anywhere_is_no_message(spoken: Spoken) -> None:
    whole = Recorded(f"{spoken.stream}-thinks-says-and-calls.events")
    last = {"google": 4, "openai-compatible": 7}.get(spoken.vendor.value, -1)
    ends = len(whole.blocks()) - 2 if last < 0 else last
    for cut in range(ends + 1):
        fault, _, _ = await fault_of(spoken, Recorded(whole.name, cut=cut))
        assert fault.kind is FaultKind.PASSING, cut


@pytest.mark.req("K21")
@every_vendor
async def test_a_stream_that_just_ends_is_no_message_either(spoken: Spoken) -> None:
    """A proxy may close it in all order; the vendor has not said that it is over."""

    class Short(Recorded):
        def blocks(self) -> list[str]:
            return super().blocks()[:4]

    fault, _, listener = await fault_of(
        spoken, Short(f"{spoken.stream}-thinks-says-and-calls.events")
    )
    assert fault.kind is FaultKind.PASSING
    assert "broke off" in str(fault)
    if listener.texts:
        assert "what was shown of it does not count" in str(fault)


@pytest.mark.req("K21")
async def test_an_error_within_a_stream_passes_like_one_before_it() -> None:
    fault, _, listener = await fault_of(ANTHROPIC, Recorded("anthropic-error.events"))
    assert fault.kind is FaultKind.PASSING
    assert "is overloaded" in str(fault)
    assert listener.texts == ["It is"]


@pytest.mark.req("K21")
async def test_after_a_cut_the_message_is_asked_for_again_and_its_text_does_not_count() -> None:
    listener = Listener()
    cut = Recorded("chat-thinks-says-and-calls.events", cut=3)
    whole = Recorded("chat-says.events")
    with ModelServer([cut, whole]) as server:
        async with answering(COMPATIBLE.choice(server)) as model:
            reply = await model.reply([ASKED], TOOLS, listener)
    assert reply.message.text == "It is done."
    assert reply.message.calls == ()
    assert listener.texts == ["I will ", "look.", "It is done."]
    assert listener.notices[0].startswith("The message broke off, and what was shown of it does")
    assert "asked again in" in listener.notices[0]


@pytest.mark.req("K21")
async def test_nobody_there_is_a_passing_fault_that_says_where() -> None:
    nowhere = ModelChoice(Vendor.COMPATIBLE, "small", "http://127.0.0.1:9/v1")
    async with answering(nowhere, patience=ONCE) as model:
        with pytest.raises(ModelFault, match="cannot be reached") as raised:
            await model.reply([ASKED], (), Listener())
    assert raised.value.kind is FaultKind.PASSING


@pytest.mark.req("K21")
async def test_what_is_no_model_at_all_is_said_to_be_none() -> None:
    class Page(Reply):
        def blocks(self) -> list[str]:
            return ["data: <html>\n\n"]

    fault, _, _ = await fault_of(COMPATIBLE, Page())
    assert fault.kind is FaultKind.HOPELESS
    assert "base_url" in str(fault)


@pytest.mark.req("K21", "K36")
async def test_an_empty_message_is_asked_for_again() -> None:
    with ModelServer([Reply(), Reply("Here I am.")]) as server:
        async with answering(COMPATIBLE.choice(server)) as model:
            reply = await model.reply([ASKED], TOOLS, Listener())
    assert reply.message.text == "Here I am."


@pytest.mark.req("K17", "K36")
@every_vendor
async def test_an_interrupt_ends_the_request_at_once(spoken: Spoken) -> None:
    stream = Recorded(f"{spoken.stream}-thinks-says-and-calls.events", hold=True)
    with ModelServer([stream]) as server:
        async with answering(spoken.choice(server)) as model:
            asking = asyncio.ensure_future(model.reply([ASKED], TOOLS, Listener()))
            assert await asyncio.to_thread(server.held.wait, 20)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert await asyncio.to_thread(server.gone.wait, 20)
    assert len(server.requests) == 1


@pytest.mark.req("P8", "K36")
@pytest.mark.parametrize(
    "written",
    [
        "{\"x\": ",
        "[1]",
        "{\"x\": \"1\", \"x\": \"2\"}",
        "{\"x\": NaN}",
        "{\"x\": 1e999}",
        "[" * 5000,
        '{"x": ' * 101 + "1" + "}" * 101,
        '{"x": ' + "[" * 330 + "]" * 330 + "}",
        '{"x": ' * 480 + "1" + "}" * 480,
        '{"x": ' + "[" * 900 + "]" * 900 + "}",
        "not JSON at all",
        "null",
    ],
)  # fmt: skip
async def test_arguments_that_are_no_object_stay_as_they_were_written(written: str) -> None:
    reply, _ = await one_reply(COMPATIBLE, Reply(calls=[Call("toy.look", raw=written)]))
    (call,) = reply.message.calls
    assert call.arguments == written
    said = reply.message
    _, server = await one_reply(COMPATIBLE, Reply("Ok."), (ASKED, said, answered(said)))
    sent = server.requests[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"not_an_object": written}


@pytest.mark.req("P8", "K21")
async def test_a_call_that_was_cut_before_its_arguments_is_not_one_without_arguments() -> None:
    cut = Reply(calls=[Call("toy.list", raw="")], finish="length")
    reply, _ = await one_reply(COMPATIBLE, cut)
    assert reply.message.calls[0].arguments == ""
    whole = Reply(calls=[Call("toy.list", raw="")])
    reply, _ = await one_reply(COMPATIBLE, whole)
    assert reply.message.calls[0].arguments == {}


@pytest.mark.req("K2", "K36")
@every_vendor
async def test_ids_that_are_used_twice_or_illegal_are_told_apart_for_the_vendor(
    spoken: Spoken,
) -> None:
    calls = [Call("toy.look", id="a"), Call("toy.look", id="a"), Call("toy.look", id="no good!")]
    said = (await one_reply(COMPATIBLE, Reply(calls=calls)))[0].message
    assert [call.tool_use_id for call in said.calls] == ["a", "a", "no good!"]
    again = (ASKED, said, answered(said), said, answered(said))
    _, server = await one_reply(spoken, Recorded(f"{spoken.stream}-says.events"), again)
    made, settled = ids(spoken, server.requests[0])
    assert len(set(made)) == 6
    assert settled == made
    assert all(len(one) <= 40 and one.replace("_", "").isalnum() for one in made)


def ids(spoken: Spoken, request: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The ids of a request's calls, and those of its results."""
    if spoken is ANTHROPIC:
        blocks = [b for m in request["messages"] for b in m["content"]]
        made = [b["id"] for b in blocks if b["type"] == "tool_use"]
        return made, [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    if spoken is OPENAI:
        items = request["input"]
        made = [one["call_id"] for one in items if one.get("type") == "function_call"]
        return made, [o["call_id"] for o in items if o.get("type") == "function_call_output"]
    if spoken is GOOGLE:
        parts = [p for c in request["contents"] for p in c["parts"]]
        made = [p["functionCall"]["id"] for p in parts if "functionCall" in p]
        return made, [p["functionResponse"]["id"] for p in parts if "functionResponse" in p]
    messages = request["messages"]
    made = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    return made, [m["tool_call_id"] for m in messages if m["role"] == "tool"]


@pytest.mark.req("K36")
async def test_huge_text_and_text_that_is_no_unicode_go_both_ways() -> None:
    huge = "é" * 3_000_000
    listener = Listener()
    reply, _ = await one_reply(COMPATIBLE, Reply([huge, huge]), listener=listener)
    assert reply.message.text == huge + huge
    odd = Message(Role.USER, (Text("half a pair: \ud83d"),))
    _, server = await one_reply(COMPATIBLE, Reply("Ok."), (odd,))
    assert server.requests[0]["messages"][0]["content"] == "half a pair: \\ud83d"


@pytest.mark.req("R6", "K36")
async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for spoken in ALL:
        await one_reply(spoken, Recorded(f"{spoken.stream}-says.events"))


@pytest.mark.req("R6", "P31")
@every_vendor
async def test_a_key_is_in_no_error_whatever_the_vendor_says(spoken: Spoken) -> None:
    for reply in (
        refusal(401, message=f"bad key {KEY}"),
        refusal(400, message=f"odd {KEY} here"),
        refusal(500, message=KEY),
    ):
        fault, _, _ = await fault_of(spoken, reply)
        assert KEY not in str(fault)
        assert KEY not in repr(fault)
        assert "***" in str(fault)


def kinds_of(error: type[BaseException]) -> set[type[BaseException]]:
    """All subclasses of an error."""
    return {one for sub in error.__subclasses__() for one in {sub} | kinds_of(sub)}


@pytest.mark.req("K21")
def test_every_error_of_the_library_has_been_looked_at() -> None:
    """One that is new counts as hopeless until somebody has decided; this says that it is new."""
    known = {
        "ModelAuthenticationError", "ModelConnectionError", "ModelContextWindowExceededError",
        "ModelHTTPError", "ModelNotFoundError", "ModelOverloadedError", "ModelQuotaExceededError",
        "ModelRateLimitError", "ModelRequestRejectedError", "ModelRequestTimeout",
        "ModelServerError", "ModelTimeoutError", "ModelUnavailableError",
    }  # fmt: skip
    public = vars(exceptions)["__all__"]
    assert {one.__name__ for one in kinds_of(ModelAPIError) if one.__name__ in public} == known
