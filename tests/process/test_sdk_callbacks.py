"""What a served provider tells the kernel: logs, events, sessions, what a cancelled call did."""

import asyncio
import json
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from provider_host import WAIT, details, said

from pluggableharness.wire import event_pb2, kernel_pb2, log_pb2, tool_pb2


@pytest.mark.req("P25", "P26")
@pytest.mark.parametrize("arguments", [{}, {"swallow": True}, {"shout": True}], ids=str)
async def test_a_cancelled_call_reports_through_emit_what_it_had_done(
    kernel_host: Any, arguments: Any
) -> None:
    stream = kernel_host.invoke("wait", arguments, call_id="the-call", session_id="the-session")
    await stream.read()
    stream.cancel()
    async with asyncio.timeout(WAIT):
        request, call_id = await kernel_host.kernel.emitted.get()
    assert call_id == "the-call"
    assert request.session_id == "the-session"
    assert request.kind == kernel_pb2.EVENT_KIND_TOOL_RESULT
    event = event_pb2.ToolResultEvent.FromString(request.payload)
    assert event.tool_call_id == "the-call"
    assert event.error.category == tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED
    assert details(event.error) == {"written": ["a.txt"], "token": "[secret]"}
    assert await kernel_host.result("where")


@pytest.mark.req("P32", "P31", "K28")
async def test_log_entries_travel_in_batches_under_the_calls_id(kernel_host: Any) -> None:
    await kernel_host.result("calls_back", how="log")
    entries: list[log_pb2.LogEntry] = []
    requests = 0
    async with asyncio.timeout(WAIT):
        while len(entries) < 501:
            request, call_id = await kernel_host.kernel.logged.get()
            assert (request.session_id, call_id) == ("session-1", "call-1")
            entries += request.entries
            requests += 1
    assert [entry.message for entry in entries[:500]] == [f"line {n}" for n in range(500)]
    assert requests < 10
    first = entries[0]
    assert (first.level, first.logger) == (log_pb2.LOG_LEVEL_INFO, "chatty")
    assert json_format.MessageToDict(first.fields) == {"number": 0, "token": "[secret]"}
    assert first.time.ToNanoseconds() > 0
    assert entries[500].fields.fields["odd"].string_value == "{1, 2}"


@pytest.mark.req("P32")
async def test_without_a_kernel_log_entries_are_json_lines_on_stderr(host: Any) -> None:
    await host.result("calls_back", how="log")
    heard = await said(host, "line 499")
    entries = [json.loads(line) for line in heard.splitlines() if line.startswith("{")]
    assert [entry["@message"] for entry in entries][:500] == [f"line {n}" for n in range(500)]
    assert entries[0]["token"] == "[secret]"


@pytest.mark.req("P32", "K28")
async def test_an_event_is_emitted_for_the_calls_session(kernel_host: Any) -> None:
    assert await kernel_host.result("calls_back", how="emit") == {"id": "event-1", "sequence": 7}
    request, call_id = await kernel_host.kernel.emitted.get()
    assert (request.session_id, call_id) == ("session-1", "call-1")
    assert request.kind == kernel_pb2.EVENT_KIND_MEMORY_WRITE
    assert (request.payload, request.schema_version) == (b"\x00\xff", "9")


@pytest.mark.req("P32", "K22")
async def test_a_child_session_runs_and_its_end_comes_back(kernel_host: Any) -> None:
    assert await kernel_host.result("calls_back", how="session") == {
        "id": "child",
        "status": "completed",
        "message": "did dig",
        "cost": 0.25,
        "tokens": [11, 2],
    }
    request = kernel_host.kernel.session_request
    assert (request.profile, request.parent_session_id) == ("worker", "session-1")
    assert [provider.name for provider in request.scoped_providers] == ["search", "web"]
    assert request.remaining_cost_budget_usd == 0.5


@pytest.mark.req("P25")
async def test_cancelling_a_call_cancels_the_child_session_that_it_waits_for(
    kernel_host: Any,
) -> None:
    kernel = kernel_host.kernel
    kernel.hold_session = True
    stream = kernel_host.invoke("calls_back", {"how": "session"})
    await stream.read()
    async with asyncio.timeout(WAIT):
        await kernel.session_started.wait()
        stream.cancel()
        await kernel.session_cancelled.wait()


@pytest.mark.req("P15", "P32")
@pytest.mark.parametrize(
    ("code", "category"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, tool_pb2.TOOL_ERROR_CATEGORY_PERMISSION_DENIED),
        (grpc.StatusCode.PERMISSION_DENIED, tool_pb2.TOOL_ERROR_CATEGORY_PERMISSION_DENIED),
        (grpc.StatusCode.INVALID_ARGUMENT, tool_pb2.TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS),
        (grpc.StatusCode.NOT_FOUND, tool_pb2.TOOL_ERROR_CATEGORY_NOT_FOUND),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, tool_pb2.TOOL_ERROR_CATEGORY_EXECUTION_FAILED),
        (grpc.StatusCode.UNAVAILABLE, tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN),
    ],
)
async def test_what_the_kernel_refuses_becomes_a_failure_with_its_reason(
    kernel_host: Any, code: Any, category: Any
) -> None:
    kernel_host.kernel.refuse = (code, "depth is 0")
    events = await kernel_host.events("calls_back", how="session")
    assert events[-1].error.category == category
    assert "depth is 0" in events[-1].error.message
