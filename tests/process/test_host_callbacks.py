"""What a provider may ask of the kernel, and whom the kernel takes it for (K28, P23, P26)."""

import asyncio
import base64
import logging
from typing import Any

import pytest
from rogue_host import Host, hosted, rogue

from pluggableharness.kernel.domain.errors import RecordFailed
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.wire import content_pb2, event_pb2, kernel_pb2, log_pb2, tool_pb2
from pluggableharness.wire.structs import to_struct


@pytest.fixture
async def host() -> Host:  # type: ignore[misc]
    async with hosted() as opened:
        yield opened


async def ask(host: Host, method: str, request: Any, operation: str = "rogue.run") -> Any:
    """Have a provider make a callback from within a call of session "session"."""
    encoded = base64.b64encode(request.SerializeToString()).decode()
    outcome = await host.run(operation, ("callback", method, encoded))
    assert isinstance(outcome, Success), outcome
    return outcome.payload


def emission(session: str = "session", kind: Any = 7, payload: bytes = b"p") -> Any:
    return kernel_pb2.EmitRequest(
        session_id=session, kind=kind, schema_version="1", payload=payload
    )


@pytest.mark.req("K28")
async def test_an_emitted_event_is_stored_with_the_producer_that_the_connection_tells(
    host: Host,
) -> None:
    answer = await ask(host, "Emit", emission())
    result = kernel_pb2.EmitResult.FromString(base64.b64decode(str(answer["answer"])))
    assert (result.id, result.sequence) == ("event-1", 1)
    [(session, producer, kind, version, payload)] = host.filed
    assert (session, kind, version, payload) == ("session", EventKind.MEMORY_WRITE, "1", b"p")
    assert (producer.name, producer.version) == ("rogue", "6.6.6")


@pytest.mark.req("K28")
@pytest.mark.parametrize(
    ("method", "request_"),
    [
        ("Emit", emission("somebody else's")),
        ("Emit", emission("")),
        ("Log", kernel_pb2.LogRequest(session_id="somebody else's")),
        ("RunSession", kernel_pb2.RunSessionRequest(parent_session_id="somebody else's")),
    ],
)
async def test_nobody_speaks_for_a_session_that_has_no_call_there(
    host: Host, method: str, request_: Any
) -> None:
    assert (await ask(host, method, request_))["code"] == "PERMISSION_DENIED"
    assert host.filed == []


@pytest.mark.req("K28")
async def test_a_call_in_one_process_is_no_permission_for_another() -> None:
    async with hosted(rogue(), rogue("other")) as host:
        started = asyncio.Event()

        async def hear(event: object) -> None:
            started.set()

        call = host.make("rogue.run", ("progress", "in"), ("hang",), session="only rogue's")
        hanging = asyncio.create_task(host.invoke(call, hear))
        await asyncio.wait_for(started.wait(), 30)
        refused = await ask(host, "Emit", emission("only rogue's"), "other.run")
        allowed = await ask(host, "Emit", emission("only rogue's"), "rogue.run")
        hanging.cancel()
        await asyncio.wait([hanging])
    assert refused["code"] == "PERMISSION_DENIED"
    assert "answer" in allowed


@pytest.mark.req("K28")
async def test_an_event_of_no_kind_is_refused(host: Host) -> None:
    assert (await ask(host, "Emit", emission(kind=0)))["code"] == "INVALID_ARGUMENT"
    assert (await ask(host, "Emit", emission(kind=99)))["code"] == "INVALID_ARGUMENT"


@pytest.mark.req("K28", "K30")
async def test_nobody_files_a_call_but_the_kernel_that_makes_it(host: Host) -> None:
    """Its row would be one of the call's own, and a resume would make the call that it tells of."""
    call = event_pb2.ToolCallEvent(call=tool_pb2.ToolCall(id="call-1", tool_name="run"))
    forged = emission(kind=kernel_pb2.EVENT_KIND_TOOL_CALL, payload=call.SerializeToString())
    assert (await ask(host, "Emit", forged))["code"] == "INVALID_ARGUMENT"
    assert host.filed == []


@pytest.mark.req("K28", "P16")
async def test_an_event_that_cannot_be_kept_is_refused_with_the_reason(host: Host) -> None:
    host.full = RecordFailed("the record cannot be written: No space left on device")
    refused = await ask(host, "Emit", emission())
    assert refused["code"] == "ABORTED"
    assert "No space left on device" in refused["message"]


@pytest.mark.req("P26")
@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ({"result": tool_pb2.ToolResult(payload=to_struct({}))}, "INVALID_ARGUMENT"),
        (
            {"error": tool_pb2.ToolError(category=tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN)},
            "INVALID_ARGUMENT",
        ),
        (
            {"error": tool_pb2.ToolError(category=tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED)},
            "FAILED_PRECONDITION",
        ),
        ({}, "INVALID_ARGUMENT"),
    ],
)
async def test_no_outcome_is_taken_over_emit_but_the_report_of_a_cancelled_call(
    host: Host, outcome: dict[str, Any], code: str
) -> None:
    event = event_pb2.ToolResultEvent(tool_call_id="call-1", **outcome)
    payload = event.SerializeToString()
    request = emission(kind=kernel_pb2.EVENT_KIND_TOOL_RESULT, payload=payload)
    assert (await ask(host, "Emit", request))["code"] == code
    assert host.filed == []


@pytest.mark.req("K28")
async def test_log_entries_of_the_older_and_the_newer_form_join_the_log(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    entries = [
        log_pb2.LogEntry(level=log_pb2.LOG_LEVEL_WARN, message=text, fields=to_struct({"n": n}))
        for n, text in enumerate(["one", "two %s", "three"])
    ]
    request = kernel_pb2.LogRequest(session_id="session", entry=entries[0], entries=entries[1:])
    with caplog.at_level(logging.DEBUG, "pluggableharness.provider"):
        await ask(host, "Log", request)
        await ask(host, "Log", kernel_pb2.LogRequest(entries=entries[:1]))
    records = [one for one in caplog.records if one.name == "pluggableharness.provider.rogue"]
    assert [one.getMessage() for one in records] == ["one", "two %s", "three", "one"]
    assert {one.levelno for one in records} == {logging.WARNING}
    assert [vars(one)["fields"] for one in records] == [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 0}]
    assert [vars(one)["session_id"] for one in records] == ["session"] * 3 + [""]


@pytest.mark.req("K28")
async def test_tokens_are_a_quarter_of_the_utf8_bytes_rounded_up(host: Host) -> None:
    text = content_pb2.ContentBlock(text=content_pb2.TextBlock(text="äöü123"))
    inner = content_pb2.ToolResultBlock(content=[text])
    nested = content_pb2.ContentBlock(tool_result=inner)
    for content, count in (([], 0), ([text], 3), ([text, nested], 5)):
        request = kernel_pb2.CountTokensRequest(content=content)
        answer = await ask(host, "CountTokens", request)
        result = kernel_pb2.CountTokensResult.FromString(base64.b64decode(str(answer["answer"])))
        assert (result.count, result.exact) == (count, False)


@pytest.mark.req("K22")
async def test_a_child_session_is_refused_with_a_reason(host: Host) -> None:
    request = kernel_pb2.RunSessionRequest(parent_session_id="session", prompt="x")
    answer = await ask(host, "RunSession", request)
    assert answer["code"] == "FAILED_PRECONDITION"
    assert "child sessions" in str(answer["message"])


async def test_a_request_that_cannot_be_decoded_is_an_invalid_argument(host: Host) -> None:
    encoded = base64.b64encode(b"\xff\xff").decode()
    outcome = await host.run("rogue.run", ("callback", "Emit", encoded))
    assert isinstance(outcome, Success)
    assert outcome.payload["code"] == "INVALID_ARGUMENT"
