"""Calls that are cancelled as they end: nothing of it is printed, on either side (P25)."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from provider_host import WAIT, Host, tool_call
from rogue_host import hosted

from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.sdk import Context, Provider
from pluggableharness.sdk.callbacks import CallRef
from pluggableharness.sdk.calling import Call, Ending, Runner
from pluggableharness.sdk.serving.tools import _writer
from pluggableharness.wire import tool_pb2

AT_ONCE, ROUNDS = 60, 8
ECHO = Path(__file__).parents[2] / "bench" / "providers" / "echo.py"

pytestmark = pytest.mark.req("P25")


async def cut_off(start: Callable[[], "asyncio.Future[Any]"]) -> int:
    """Start calls at once, and at the end of each cancel the next: it is about to end as well.

    Returns how many were cancelled.
    """
    waiting, cancelled = {start() for _ in range(AT_ONCE)}, 0
    async with asyncio.timeout(WAIT):
        while waiting:
            ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for _, one in zip(ended, waiting, strict=False):
                cancelled += one.cancel()
            for one in ended:
                if not one.cancelled():
                    one.exception()
    return cancelled


@pytest.fixture
async def complaints() -> list[Any]:
    """What the loop of this process was told of, which else is printed."""
    heard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
    return heard


RPCS = {
    "a result": lambda host: host.invoke("sent"),
    "events": lambda host: host.invoke("everything", {"text": "x"}),
    "much output": lambda host: host.invoke("flood", {"mib": 1}),
    "a failure": lambda host: host.invoke("broken", {"how": "leak"}),
    "a preview": lambda host: _preview(host, "x"),
    "a preview that fails": lambda host: _preview(host, "fail"),
}


def _preview(host: Host, text: str) -> Any:
    call = tool_call("everything", {"text": text})
    return host.tools.Preview(tool_pb2.PreviewRequest(call=call))


async def _all_of(rpc: Any) -> None:
    if isinstance(rpc, grpc.aio.UnaryUnaryCall):
        await rpc
    else:
        async for _ in rpc:
            pass


@pytest.mark.parametrize("rpc", RPCS)
async def test_a_provider_prints_nothing_of_a_late_cancel(
    kernel_host: Host, complaints: list[Any], capfd: pytest.CaptureFixture[str], rpc: str
) -> None:
    await kernel_host.result("sent")
    before = b"".join(kernel_host.stderr)
    cancelled = 0
    for _ in range(ROUNDS):
        cancelled += await cut_off(lambda: asyncio.ensure_future(_all_of(RPCS[rpc](kernel_host))))
    assert cancelled > ROUNDS
    assert await kernel_host.shut_down() == 0
    told = b"".join(kernel_host.stderr)[len(before) :].decode()
    told += capfd.readouterr().err
    assert complaints == [] and "Traceback" not in told and "CancelledError" not in told


async def test_a_kernel_prints_nothing_of_a_late_cancel(
    complaints: list[Any],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with hosted(ProviderSpec("echo", (sys.executable, str(ECHO)))) as host:
        cancelled = 0
        for name in ("echo.read", "echo.act"):
            assert isinstance(await host.run(name, text="x"), Success)
            for _ in range(ROUNDS):
                start = lambda name=name: asyncio.ensure_future(host.run(name, text="x"))  # noqa: E731
                cancelled += await cut_off(start)
        assert cancelled > ROUNDS
    told = capfd.readouterr().err
    assert complaints == [] and "Traceback" not in told and "CancelledError" not in told
    assert caplog.records == []


class _Gone:
    """An RPC whose caller is gone, which the task that serves it has not been told yet."""

    async def write(self, data: bytes) -> None:
        raise grpc.aio.UsageError("RPC already finished.")


class _Deaf:
    """A kernel that is told of nothing."""

    def log(self, *entry: Any) -> None:
        raise AssertionError(f"logged as a bug: {entry}")


@pytest.mark.parametrize("swallows", [False, True])
async def test_a_caller_that_is_gone_is_a_cancel_and_no_bug_of_the_function(
    swallows: bool,
) -> None:
    provider = Provider("sample")

    @provider.resource(risk="low", streaming=True)
    async def act(ctx: Context[None]) -> dict[str, Any]:
        """Act."""
        ctx.report = {"done": "half"}
        try:
            await ctx.output(b"x" * 100_000)
        except asyncio.CancelledError:
            if not swallows:
                raise
        return {}

    runner, ending = Runner(provider, _Deaf()), Ending()  # type: ignore[arg-type]  # only logs
    call = Call(CallRef("c", "s"), "act", {}, "/")
    with pytest.raises(asyncio.CancelledError):
        await runner.run(call, _writer(_Gone(), ending), ending)  # type: ignore[arg-type]  # writes
    assert ending.report == {"done": "half"}
