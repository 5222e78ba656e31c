"""A served provider, seen from a host on the other side of the wire."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2, json_format
from provider_host import WAIT, hosted, launch, tool_call

from pluggableharness.wire import (
    config_pb2,
    event_pb2,
    kernel_pb2,
    log_pb2,
    plugin_pb2,
    plugin_pb2_grpc,
    tool_pb2,
)
from pluggableharness.wire.handshake import plugin_environment

CHATTY = Path(__file__).with_name("chatty_provider.py")
EXAMPLES = Path(__file__).parents[2] / "examples"
SECRET = "hunter2-s3cret"


@pytest.fixture
async def host(tmp_path):
    async with hosted(CHATTY, tmp_path, configuration={"token": SECRET}) as host:
        yield host


@pytest.fixture
async def kernel_host(tmp_path):
    configuration = {"token": SECRET}
    async with hosted(CHATTY, tmp_path, with_kernel=True, configuration=configuration) as host:
        yield host


def details(error):
    return json_format.MessageToDict(error.details)


async def said(host, text):
    """Wait until the provider's real stderr holds `text`, and return all of it."""
    async with asyncio.timeout(WAIT):
        while text not in (heard := b"".join(host.stderr).decode()):
            await asyncio.sleep(0.01)
    return heard


# Start and handshake


@pytest.mark.req("P32")
def test_started_by_hand_it_says_what_it_is_and_how_to_try_it():
    done = subprocess.run([sys.executable, CHATTY], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is a plugin" in done.stderr
    program = f"'{sys.executable} {CHATTY}'"
    assert f"harness call chatty.everything text=VALUE --provider {program}\n" in done.stderr


async def test_a_socket_directory_that_is_too_long_is_named(tmp_path):
    long = tmp_path / ("d" * 100)
    long.mkdir()
    process = await launch(CHATTY, plugin_environment(os.environ, str(long), {}))
    async with asyncio.timeout(WAIT):
        _, err = await process.communicate()
    assert process.returncode == 1
    assert b"set a shorter PLUGIN_UNIX_SOCKET_DIR or TMPDIR" in err


async def test_one_line_is_all_that_the_real_stdout_ever_carries(tmp_path):
    async with hosted(CHATTY, tmp_path) as host:
        await host.result("prints", text="careless")
        heard = await said(host, "to stderr: careless")
        assert "\ncareless\n" in heard
        assert "a library says hello at import" in heard
        assert await host.shut_down() == 0
        assert await host.process.stdout.read() == b""


async def test_the_socket_lies_in_the_hosts_directory_and_goes_with_the_process(tmp_path):
    async with hosted(CHATTY, tmp_path) as host:
        assert Path(host.handshake.address).parent == tmp_path
        await host.shut_down()
    assert list(tmp_path.iterdir()) == []


async def test_without_a_directory_the_socket_lies_in_a_private_one(tmp_path):
    async with hosted(CHATTY, None, environment={"TMPDIR": str(tmp_path)}) as host:
        directory = Path(host.handshake.address).parent
        assert directory.parent == tmp_path
        assert directory.stat().st_mode & 0o077 == 0
        assert await host.shut_down() == 0
    assert list(tmp_path.iterdir()) == []


def test_declaring_a_provider_does_not_load_grpc():
    """A cold call pays for every import; a test or a listing needs none of these."""
    code = "import sys, pluggableharness.sdk; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"grpc", "pathlib", "yaml", "rich", "difflib", "importlib.metadata"}


# What the contract's RPCs answer


@pytest.mark.req("P1")
async def test_get_schema_tells_all_and_always_the_same(host):
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
async def test_two_processes_give_the_same_schema_byte_for_byte(tmp_path):
    answers = []
    for number in range(2):
        directory = tmp_path / str(number)
        directory.mkdir()
        async with hosted(CHATTY, directory, environment={"PYTHONHASHSEED": str(number)}) as host:
            raw = host.channel.unary_unary("/pluggableharness.tool.v1.ToolService/GetSchema")
            answers.append(await raw(b""))
    assert answers[0] == answers[1]


@pytest.mark.req("P30")
async def test_describe_tells_who_serves(host):
    producer = (await host.tools.Describe(tool_pb2.DescribeRequest())).producer
    assert (producer.name, producer.version, producer.protocol_version) == ("chatty", "7.1", 1)


@pytest.mark.req("P28", "P31")
async def test_configure_names_the_wrong_field_and_not_the_secret(host):
    request = tool_pb2.ConfigureRequest()
    request.config.update({"limit": "many", "token": SECRET})
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.tools.Configure(request)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.value.details() == 'limit: expected a whole number, got "many"'
    assert (await host.result("where"))["limit"] == 3


@pytest.mark.req("P10")
async def test_events_cross_the_wire_in_order_and_the_terminal_one_is_last(host):
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
async def test_a_call_gets_its_context_and_never_the_providers_own_directory(host):
    stream = host.invoke("where", call_id="c", session_id="s", working_directory="/elsewhere")
    (response,) = [response async for response in stream]
    payload = json_format.MessageToDict(response.event.result.payload)
    assert payload["directory"] == "/elsewhere"
    assert (payload["call"], payload["session"], payload["turn"]) == ("c", "s", "turn-1")


async def test_a_served_provider_cannot_be_looked_into(host):
    """Its memory holds secrets, which other processes of the user must not read (R6)."""
    assert (await host.result("where"))["dumpable"] == 0


@pytest.mark.req("P8")
async def test_bad_calls_are_errors_of_the_tool_and_never_of_the_rpc(host):
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
    host, how, lead_up, message
):
    """Case plugin-process-03."""
    events = await host.events("broken", how=how)
    assert len(events) == lead_up + 1
    assert events[-1].error.category == tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN
    assert events[-1].error.message == message
    assert await host.result("where")


@pytest.mark.req("P31")
async def test_the_traceback_is_logged_without_the_secret(host):
    await host.events("broken", how="leak")
    heard = await said(host, "Traceback")
    assert SECRET not in heard
    entry = json.loads(next(line for line in heard.splitlines() if "Traceback" in line))
    assert entry["@level"] == "error"
    assert entry["@module"] == "chatty"
    assert "ValueError" in entry["traceback"]


@pytest.mark.req("P14")
@pytest.mark.parametrize("size", [65_535, 4 * 1024 * 1024 + 1, 20_000_000])
async def test_a_large_result_arrives(host, size):
    """Case plugin-process-05, below the maximum."""
    assert len((await host.result("sized", size=size))["text"]) == size


@pytest.mark.req("P14")
async def test_a_result_above_the_maximum_says_so_and_the_plugin_goes_on(host):
    """Case plugin-process-05, above the maximum."""
    (event,) = await host.events("sized", size=64 * 1024 * 1024)
    assert event.error.category == tool_pb2.TOOL_ERROR_CATEGORY_UNKNOWN
    assert "more than the 67108864 of a message" in event.error.message
    assert await host.result("where")


@pytest.mark.req("P14")
async def test_a_consumer_that_does_not_read_holds_the_function_up(host):
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


async def test_two_thousand_calls_opened_at_once_are_all_answered(host):
    """gRPC's servers drop some of so many at random, unless told to let them wait (S15)."""
    async with asyncio.timeout(WAIT * 4):
        answers = await asyncio.gather(*(host.events("sized", size=1) for _ in range(2000)))
    assert all(events[-1].HasField("result") for events in answers)


# Previews and records


def preview(host, tool, **arguments):
    request = tool_pb2.PreviewRequest(call=tool_call(tool, arguments, working_directory="/there"))
    return host.tools.Preview(request)


@pytest.mark.req("P29", "P9")
async def test_a_preview_tells_what_a_call_would_do(host):
    shown = (await preview(host, "everything", text="hello")).preview
    assert shown.root.text.content == "would say hello in /there"
    assert not (await preview(host, "everything", text="")).HasField("preview")


@pytest.mark.req("P29", "P31")
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("where", {}, "UNIMPLEMENTED", "where has no preview"),
        ("wher", {}, "INTERNAL", "chatty has no operation 'wher'"),
        ("everything", {"text": 5}, "INVALID_ARGUMENT", "text: expected a string, got 5"),
        ("everything", {"text": "fail"}, "INTERNAL", "no preview with [secret]"),
    ],
)
async def test_a_preview_that_cannot_be_made_says_why(host, tool, arguments, code, message):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await preview(host, tool, **arguments)
    assert refused.value.code() is grpc.StatusCode[code]
    assert refused.value.details().startswith(message)
    assert await end(host, "shutdown") == 0
    assert b"Traceback" not in b"".join(host.stderr)


def recorded(form):
    if form == "json":
        return b' {"text": "from the record"}'
    event = event_pb2.ToolResultEvent(tool_call_id="c")
    event.result.payload.update({"text": "from the record"})
    return event.SerializeToString()


@pytest.mark.req("P30")
@pytest.mark.parametrize("form", ["json", "event"])
@pytest.mark.parametrize("version", ["everything/1", "everything", "1", ""])
async def test_a_recorded_payload_is_drawn_by_its_operation(host, form, version):
    request = tool_pb2.RenderRequest(payload=recorded(form), schema_version=version)
    assert (await host.tools.Render(request)).tree.root.text.content == "from the record"


@pytest.mark.req("P30")
async def test_a_payload_that_no_operation_draws_is_left_to_the_host(host):
    for request in (
        tool_pb2.RenderRequest(payload=b'{"other": 1}', schema_version="1"),
        tool_pb2.RenderRequest(payload=recorded("json"), schema_version="where/1"),
    ):
        assert not (await host.tools.Render(request)).HasField("tree")


@pytest.mark.req("P30")
@pytest.mark.parametrize("payload", [b"\xff\xff", b"{broken", b'{"text": 5}'])
async def test_a_payload_that_cannot_be_drawn_says_why(host, payload):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.tools.Render(
            tool_pb2.RenderRequest(payload=payload, schema_version="everything/1")
        )
    assert refused.value.details()
    assert await host.result("where")


# Cancelling


@pytest.mark.req("P25", "P26")
@pytest.mark.parametrize("arguments", [{}, {"swallow": True}, {"shout": True}], ids=str)
async def test_a_cancelled_call_reports_through_emit_what_it_had_done(kernel_host, arguments):
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


# Calling back


@pytest.mark.req("P32", "P31", "K28")
async def test_log_entries_travel_in_batches_under_the_calls_id(kernel_host):
    await kernel_host.result("calls_back", how="log")
    entries, requests = [], 0
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
async def test_without_a_kernel_log_entries_are_json_lines_on_stderr(host):
    await host.result("calls_back", how="log")
    heard = await said(host, "line 499")
    entries = [json.loads(line) for line in heard.splitlines() if line.startswith("{")]
    assert [entry["@message"] for entry in entries][:500] == [f"line {n}" for n in range(500)]
    assert entries[0]["token"] == "[secret]"


@pytest.mark.req("P32", "K28")
async def test_an_event_is_emitted_for_the_calls_session(kernel_host):
    assert await kernel_host.result("calls_back", how="emit") == {"id": "event-1", "sequence": 7}
    request, call_id = await kernel_host.kernel.emitted.get()
    assert (request.session_id, call_id) == ("session-1", "call-1")
    assert request.kind == kernel_pb2.EVENT_KIND_MEMORY_WRITE
    assert (request.payload, request.schema_version) == (b"\x00\xff", "9")


@pytest.mark.req("P32", "K22")
async def test_a_child_session_runs_and_its_end_comes_back(kernel_host):
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
async def test_cancelling_a_call_cancels_the_child_session_that_it_waits_for(kernel_host):
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
    kernel_host, code, category
):
    kernel_host.kernel.refuse = (code, "depth is 0")
    events = await kernel_host.events("calls_back", how="session")
    assert events[-1].error.category == category
    assert "depth is 0" in events[-1].error.message


# go-plugin's own services


async def test_the_health_service_answers_for_the_plugin(host):
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    health = health_pb2_grpc.HealthStub(host.channel)
    for service in ("", "plugin"):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    watch = health.Watch(health_pb2.HealthCheckRequest(service="plugin"))
    assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await health.Check(health_pb2.HealthCheckRequest(service="other"))
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_host_that_subscribes_gets_what_is_printed(host):
    stdio = plugin_pb2_grpc.GRPCStdioStub(host.channel)
    stream = stdio.StreamStdio(empty_pb2.Empty())
    async with asyncio.timeout(WAIT):
        # The stream is there once a print has come through it.
        reading = asyncio.create_task(stream.read())
        while not reading.done():
            await host.result("prints", text="ready")
        assert reading.result().channel == plugin_pb2.StdioData.STDOUT
        await host.result("prints", text="é" * 100, times=5000)
        data = reading.result().data
        while data.count("é".encode()) < 500_000:
            data += (await stream.read()).data
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stdio.StreamStdio(empty_pb2.Empty()).read()
    assert refused.value.code() is grpc.StatusCode.ALREADY_EXISTS
    stream.cancel()
    async with asyncio.timeout(WAIT):
        while "\nlater\n" not in b"".join(host.stderr).decode():
            await host.result("prints", text="later")


async def test_a_host_that_subscribes_and_does_not_read_cannot_hold_a_print_up(host):
    stream = plugin_pb2_grpc.GRPCStdioStub(host.channel).StreamStdio(empty_pb2.Empty())
    async with asyncio.timeout(WAIT):
        reading = asyncio.create_task(stream.read())
        while not reading.done():
            await host.result("prints", text="ready")
        await host.result("prints", text="x" * 1000, times=20_000)
        assert await host.result("where")
        data = b""
        while b"bytes dropped: the host reads too slowly" not in data:
            data += (await stream.read()).data
    assert len(data) < 8 * 1024 * 1024


# The end


async def end(host, how):
    if how == "shutdown":
        return await host.shut_down()
    host.process.send_signal(signal.SIGTERM)
    return await host.exit_code()


@pytest.mark.req("K16", "P26")
@pytest.mark.parametrize("how", ["shutdown", "sigterm"])
async def test_an_end_in_order_cancels_what_runs_and_sends_its_report(kernel_host, how):
    stream = kernel_host.invoke("wait", {}, call_id="cut-off")
    await stream.read()
    assert await end(kernel_host, how) == 0
    request, call_id = kernel_host.kernel.emitted.get_nowait()
    assert call_id == "cut-off"
    event = event_pb2.ToolResultEvent.FromString(request.payload)
    assert details(event.error)["written"] == ["a.txt"]
    assert b"Traceback" not in b"".join(kernel_host.stderr)


@pytest.mark.req("K16")
@pytest.mark.parametrize("how", ["shutdown", "sigterm"])
async def test_an_end_in_order_sends_what_was_logged(kernel_host, how):
    await kernel_host.result("calls_back", how="log")
    assert await end(kernel_host, how) == 0
    logged = kernel_host.kernel.logged
    entries = [entry for _ in range(logged.qsize()) for entry in logged.get_nowait()[0].entries]
    assert len(entries) == 501


@pytest.mark.req("K16")
async def test_an_interrupt_at_the_terminal_is_left_to_the_host(host):
    host.process.send_signal(signal.SIGINT)
    assert await host.result("where")
    assert await end(host, "sigterm") == 0


async def test_an_idle_provider_leaves_without_a_word(host):
    assert await end(host, "shutdown") == 0
    assert b"".join(host.stderr) == b"a library says hello at import\n"


async def test_a_process_that_dies_in_a_call_ends_its_stream(host):
    """Case plugin-process-02, from the provider's side: nothing lingers that holds the socket."""
    with pytest.raises(grpc.aio.AioRpcError) as lost:
        await host.events("broken", how="die")
    assert lost.value.code() is grpc.StatusCode.UNAVAILABLE
    assert await host.exit_code() == 3


@pytest.mark.req("P32", "K12")
@pytest.mark.parametrize(
    ("program", "operation", "arguments", "payload"),
    [
        ("hello-provider/hello_provider.py", "greet", {"name": "Ada"}, {"text": "Hello, Ada!"}),
        ("finish/finish_provider.py", "finish", {"summary": "Done."}, {"summary": "Done."}),
    ],
)
async def test_the_examples_run(tmp_path, program, operation, arguments, payload):
    async with hosted(EXAMPLES / program, tmp_path) as host:
        (schema,) = (await host.tools.GetSchema(tool_pb2.GetSchemaRequest())).tools
        assert schema.terminates_turn == (operation == "finish")
        assert await host.result(operation, **arguments) == payload
