"""A provider as a process: its start, what it prints, its end."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from provider_host import CHATTY, WAIT, details, end, hosted, launch, said

from pluggableharness.wire import event_pb2, plugin_pb2, plugin_pb2_grpc
from pluggableharness.wire.handshake import plugin_environment


@pytest.mark.req("P32")
def test_started_by_hand_it_says_what_it_is_and_how_to_try_it() -> None:
    done = subprocess.run([sys.executable, CHATTY], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is a plugin" in done.stderr
    program = f"'{sys.executable} {CHATTY}'"
    assert f"harness call chatty.everything text=VALUE --provider {program}\n" in done.stderr


async def test_a_socket_directory_that_is_too_long_is_named(tmp_path: Path) -> None:
    long = tmp_path / ("d" * 100)
    long.mkdir()
    process = await launch(CHATTY, plugin_environment(os.environ, str(long), {}))
    async with asyncio.timeout(WAIT):
        _, err = await process.communicate()
    assert process.returncode == 1
    assert b"set a shorter PLUGIN_UNIX_SOCKET_DIR or TMPDIR" in err


async def test_one_line_is_all_that_the_real_stdout_ever_carries(tmp_path: Path) -> None:
    async with hosted(CHATTY, tmp_path) as host:
        await host.result("prints", text="careless")
        heard = await said(host, "to stderr: careless")
        assert "\ncareless\n" in heard
        assert "a library says hello at import" in heard
        assert await host.shut_down() == 0
        assert host.process.stdout is not None
        assert await host.process.stdout.read() == b""


async def test_the_socket_lies_in_the_hosts_directory_and_goes_with_the_process(
    tmp_path: Path,
) -> None:
    async with hosted(CHATTY, tmp_path) as host:
        assert Path(host.handshake.address).parent == tmp_path
        await host.shut_down()
    assert list(tmp_path.iterdir()) == []


async def test_without_a_directory_the_socket_lies_in_a_private_one(tmp_path: Path) -> None:
    async with hosted(CHATTY, None, environment={"TMPDIR": str(tmp_path)}) as host:
        directory = Path(host.handshake.address).parent
        assert directory.parent == tmp_path
        assert directory.stat().st_mode & 0o077 == 0
        assert await host.shut_down() == 0
    assert list(tmp_path.iterdir()) == []


def test_declaring_a_provider_does_not_load_grpc() -> None:
    """A cold call pays for every import; a test or a listing needs none of these."""
    code = "import sys, pluggableharness.sdk; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"grpc", "pathlib", "yaml", "rich", "difflib", "importlib.metadata"}


async def test_the_health_service_answers_for_the_plugin(host: Any) -> None:
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


async def test_a_host_that_subscribes_gets_what_is_printed(host: Any) -> None:
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


async def test_a_host_that_subscribes_and_does_not_read_cannot_hold_a_print_up(host: Any) -> None:
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


@pytest.mark.req("K16", "P26")
@pytest.mark.parametrize("how", ["shutdown", "sigterm"])
async def test_an_end_in_order_cancels_what_runs_and_sends_its_report(
    kernel_host: Any, how: Any
) -> None:
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
async def test_an_end_in_order_sends_what_was_logged(kernel_host: Any, how: Any) -> None:
    await kernel_host.result("calls_back", how="log")
    assert await end(kernel_host, how) == 0
    logged = kernel_host.kernel.logged
    entries = [entry for _ in range(logged.qsize()) for entry in logged.get_nowait()[0].entries]
    assert len(entries) == 501


@pytest.mark.req("K16")
async def test_an_interrupt_at_the_terminal_is_left_to_the_host(host: Any) -> None:
    host.process.send_signal(signal.SIGINT)
    assert await host.result("where")
    assert await end(host, "sigterm") == 0


async def test_an_idle_provider_leaves_without_a_word(host: Any) -> None:
    assert await end(host, "shutdown") == 0
    assert b"".join(host.stderr) == b"a library says hello at import\n"


async def test_a_process_that_dies_in_a_call_ends_its_stream(host: Any) -> None:
    """Case plugin-process-02, from the provider's side: nothing lingers that holds the socket."""
    with pytest.raises(grpc.aio.AioRpcError) as lost:
        await host.events("broken", how="die")
    assert lost.value.code() is grpc.StatusCode.UNAVAILABLE
    assert await host.exit_code() == 3
