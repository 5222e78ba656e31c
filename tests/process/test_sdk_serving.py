"""What a served provider answers, seen from a host on the other side of the wire."""

import asyncio
import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from provider_host import CHATTY, SECRET, WAIT, end, hosted, said, tool_call

from pluggableharness.wire import config_pb2, event_pb2, render_pb2, tool_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.req("P1")
async def test_get_schema_tells_all_and_always_the_same(host: Any) -> None:
    raw = host.channel.unary_unary("/pluggableharness.tool.v1.ToolService/GetSchema")
    first, second = await raw(b""), await raw(b"")
    assert first == second
    schema = tool_pb2.GetSchemaResponse.FromString(first)
    tools = {tool.name: tool for tool in schema.tools}
    everything = tools["everything"]
    assert everything.kind == tool_pb2.TOOL_KIND_RESOURCE
    assert everything.risk == tool_pb2.RISK_CLASS_LOW
    assert everything.description == "Send one event of each kind."
    assert everything.streaming
    assert everything.concurrency == tool_pb2.ConcurrencySpec(safe=True, key_fields=["text"])
    assert everything.default_timeout.ToMilliseconds() == 1500
    assert not everything.idempotent
    assert not everything.terminates_turn
    where = tools["where"]
    assert where.kind == tool_pb2.TOOL_KIND_DATA_SOURCE
    assert where.risk == tool_pb2.RISK_CLASS_READ_ONLY
    assert where.concurrency.safe
    assert not where.HasField("default_timeout")
    token, limit = schema.config_schema.attributes
    assert token.sensitive
    assert limit.type == config_pb2.ATTR_TYPE_NUMBER


@pytest.mark.req("P1")
async def test_two_processes_give_the_same_schema_byte_for_byte(tmp_path: Path) -> None:
    answers = []
    for number in range(2):
        directory = tmp_path / str(number)
        directory.mkdir()
        async with hosted(CHATTY, directory, environment={"PYTHONHASHSEED": str(number)}) as host:
            raw: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = host.channel.unary_unary(
                "/pluggableharness.tool.v1.ToolService/GetSchema"
            )
            answers.append(await raw(b""))
    assert answers[0] == answers[1]


@pytest.mark.req("P30")
async def test_describe_tells_who_serves(host: Any) -> None:
    producer = (await host.tools.Describe(tool_pb2.DescribeRequest())).producer
    assert (producer.name, producer.version, producer.protocol_version) == ("chatty", "7.1", 1)


@pytest.mark.req("P28", "P31")
async def test_configure_names_the_wrong_field_and_not_the_secret(host: Any) -> None:
    request = tool_pb2.ConfigureRequest()
    request.config.update({"limit": "many", "token": SECRET})
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.tools.Configure(request)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.value.details() == 'limit: expected a whole number, got "many"'
    assert (await host.result("where"))["limit"] == 3


@pytest.mark.req("P10")
async def test_events_cross_the_wire_in_order_and_the_terminal_one_is_last(host: Any) -> None:
    events = await host.events("everything", text="done")
    kinds = [event.WhichOneof("event") for event in events]
    assert kinds == [
        "output_chunk",
        "output_chunk",
        "progress",
        "partial_result",
        "exit_status",
        "progress",
        "result",
    ]
    out, err, half, partial, exited, nearly, result = events
    assert (out.output_chunk.stream, out.output_chunk.data) == (1, b"out\xff")
    assert (err.output_chunk.stream, err.output_chunk.data) == (2, b"err")
    assert (half.progress.message, half.progress.fraction_complete) == ("half-way", 0.5)
    assert not nearly.progress.HasField("fraction_complete")
    assert json_format.MessageToDict(partial.partial_result.payload) == {"hits": [1, {"a": None}]}
    assert (exited.exit_status.exit_code, exited.exit_status.signal) == (2, "SIGTERM")
    assert json_format.MessageToDict(result.result.payload) == {"text": "done"}


@pytest.mark.req("P9")
async def test_a_call_gets_its_context_and_never_the_providers_own_directory(host: Any) -> None:
    stream = host.invoke("where", call_id="c", session_id="s", working_directory="/elsewhere")
    (response,) = [response async for response in stream]
    payload = json_format.MessageToDict(response.event.result.payload)
    assert payload["directory"] == "/elsewhere"
    assert (payload["call"], payload["session"], payload["turn"]) == ("c", "s", "turn-1")


async def test_a_served_provider_cannot_be_looked_into(host: Any) -> None:
    """Its memory holds secrets, which other processes of the user must not read (R6)."""
    assert (await host.result("where"))["dumpable"] == 0


@pytest.mark.req("P8")
async def test_bad_calls_are_errors_of_the_tool_and_never_of_the_rpc(host: Any) -> None:
    (unknown,) = await host.events("wher")
    assert unknown.error.category == tool_pb2.TOOL_ERROR_CATEGORY_NOT_FOUND
    assert "chatty has no operation 'wher'" in unknown.error.message
    (wrong,) = await host.events("sized", size="5")
    assert wrong.error.category == tool_pb2.TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS
    assert wrong.error.message == 'size: expected a whole number, got "5"'
    call = tool_call("sized")
    call.arguments.fields["size"].number_value = float("nan")
    (nan,) = [r.event async for r in host.tools.Invoke(tool_pb2.InvokeRequest(call=call))]
    assert nan.error.category == tool_pb2.TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS
    assert nan.error.message == "size: nan is no JSON number"


@pytest.mark.req("P11", "P15", "P16", "P31")
@pytest.mark.parametrize(
    ("how", "lead_up", "message"),
    [
        ("raise", 0, "ValueError: boom"),
        ("leak", 0, "ValueError: cannot use [secret]"),
        ("twice", 1, "ctx.exit_status() of broken: a call has one exit status, and it was sent"),
        ("cancel", 0, "CancelledError: the call's own task was cancelled"),
        ("nan", 0, "the result of broken cannot be sent: a.b: nan is no JSON number"),
    ],
)
async def test_what_goes_wrong_in_a_function_is_unknown_and_the_plugin_goes_on(
    host: Any, how: Any, lead_up: Any, message: Any
) -> None:
    """Case plugin-process-03."""
    events = await host.events("broken", how=how)
    assert len(events) == lead_up + 1
    assert events[-1].error.category == tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN
    assert events[-1].error.message == message
    assert await host.result("where")


@pytest.mark.req("P31")
async def test_the_traceback_is_logged_without_the_secret(host: Any) -> None:
    await host.events("broken", how="leak")
    heard = await said(host, "Traceback")
    assert SECRET not in heard
    entry = json.loads(next(line for line in heard.splitlines() if "Traceback" in line))
    assert entry["@level"] == "debug"
    assert entry["@module"] == "chatty"
    assert "ValueError" in entry["@message"]


@pytest.mark.req("P14")
@pytest.mark.parametrize("size", [65_535, 4 * 1024 * 1024 + 1, 20_000_000])
async def test_a_large_result_arrives(host: Any, size: Any) -> None:
    """Case plugin-process-05, below the maximum."""
    assert len((await host.result("sized", size=size))["text"]) == size


@pytest.mark.req("P14")
async def test_a_result_above_the_maximum_says_so_and_the_plugin_goes_on(host: Any) -> None:
    """Case plugin-process-05, above the maximum."""
    (event,) = await host.events("sized", size=64 * 1024 * 1024)
    assert event.error.category == tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN
    assert "more than the 67108864 of a message" in event.error.message
    assert await host.result("where")


@pytest.mark.req("P14")
async def test_a_consumer_that_does_not_read_holds_the_function_up(host: Any) -> None:
    stream = host.invoke("flood", {"mib": 64})
    received = (await stream.read()).event.output_chunk.data
    before, now = -1, 0
    async with asyncio.timeout(WAIT):
        while before != now:
            before, now = now, int((await host.result("sent"))["bytes"])
            await asyncio.sleep(0.2)
    assert now < 32 * 1024 * 1024
    total = len(received)
    async with asyncio.timeout(WAIT):
        while (response := await stream.read()) is not grpc.aio.EOF:
            total += len(response.event.output_chunk.data)
    assert total == 64 * 1024 * 1024


async def test_two_thousand_calls_opened_at_once_are_all_answered(host: Any) -> None:
    """gRPC's servers drop some of so many at random, unless told to let them wait (S15)."""
    async with asyncio.timeout(WAIT * 4):
        answers = await asyncio.gather(*(host.events("sized", size=1) for _ in range(2000)))
    assert all(events[-1].HasField("result") for events in answers)


def preview(host: Any, tool: Any, **arguments: Any) -> Any:
    request = tool_pb2.PreviewRequest(call=tool_call(tool, arguments, working_directory="/there"))
    return host.tools.Preview(request)


@pytest.mark.req("P29", "P9")
async def test_a_preview_tells_what_a_call_would_do(host: Any) -> None:
    shown = (await preview(host, "everything", text="hello")).preview
    assert shown.root.text.content == "would say hello in /there"
    assert not (await preview(host, "everything", text="")).HasField("preview")


@pytest.mark.req("P29", "P31")
@pytest.mark.parametrize(
    ("text", "why"), [(5, "text: expected a string, got 5"), ("fail", "no preview with [secret]")]
)
async def test_a_preview_of_a_call_that_would_fail_says_why(host: Any, text: Any, why: Any) -> None:
    shown = (await preview(host, "everything", text=text)).preview.root.text
    assert shown.content == f"This would fail: {why}"
    assert shown.style == render_pb2.TEXT_STYLE_WARNING


@pytest.mark.req("P29", "P31")
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("where", {}, "UNIMPLEMENTED", "where has no preview"),
        ("wher", {}, "INTERNAL", "chatty has no operation 'wher'"),
        ("everything", {"text": "break"}, "INTERNAL", "RuntimeError: no preview with [secret]"),
    ],
)
async def test_a_preview_that_cannot_be_made_says_why(
    host: Any, tool: Any, arguments: Any, code: Any, message: Any
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await preview(host, tool, **arguments)
    assert refused.value.code() is grpc.StatusCode[code]
    assert str(refused.value.details()).startswith(message)
    assert await end(host, "shutdown") == 0
    assert b"Traceback" not in b"".join(host.stderr)


def recorded(form: Any) -> Any:
    if form == "json":
        return b' {"text": "from the record"}'
    event = event_pb2.ToolResultEvent(tool_call_id="c")
    event.result.payload.update({"text": "from the record"})
    return event.SerializeToString()


@pytest.mark.req("P30")
@pytest.mark.parametrize("form", ["json", "event"])
@pytest.mark.parametrize("version", ["everything/1", "everything", "1", ""])
async def test_a_recorded_payload_is_drawn_by_its_operation(
    host: Any, form: Any, version: Any
) -> None:
    request = tool_pb2.RenderRequest(payload=recorded(form), schema_version=version)
    assert (await host.tools.Render(request)).tree.root.text.content == "from the record"


@pytest.mark.req("P30")
async def test_a_payload_that_no_operation_draws_is_left_to_the_host(host: Any) -> None:
    for request in (
        tool_pb2.RenderRequest(payload=b'{"other": 1}', schema_version="1"),
        tool_pb2.RenderRequest(payload=recorded("json"), schema_version="where/1"),
    ):
        assert not (await host.tools.Render(request)).HasField("tree")


@pytest.mark.req("P30")
@pytest.mark.parametrize("payload", [b"\xff\xff", b"{broken", b'{"text": 5}'])
async def test_a_payload_that_cannot_be_drawn_says_why(host: Any, payload: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.tools.Render(
            tool_pb2.RenderRequest(payload=payload, schema_version="everything/1")
        )
    assert refused.value.details()
    assert await host.result("where")


@pytest.mark.req("P32", "K12")
@pytest.mark.parametrize(
    ("program", "operation", "arguments", "payload"),
    [
        ("hello-provider/hello_provider.py", "greet", {"name": "Ada"}, {"text": "Hello, Ada!"}),
        ("finish/finish_provider.py", "finish", {"summary": "Done."}, {"summary": "Done."}),
    ],
)
async def test_the_examples_run(
    tmp_path: Path, program: Any, operation: Any, arguments: Any, payload: Any
) -> None:
    async with hosted(EXAMPLES / program, tmp_path) as host:
        (schema,) = (await host.tools.GetSchema(tool_pb2.GetSchemaRequest())).tools
        assert schema.terminates_turn == (operation == "finish")
        assert await host.result(operation, **arguments) == payload
