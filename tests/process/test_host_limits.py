"""Calls at the edge of what can be carried: large, many, and not what they should be."""

import asyncio
import base64

import pytest
from rogue_host import Host, failure, hosted

from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    LeadUp,
    Success,
)


@pytest.fixture
async def host() -> Host:  # type: ignore[misc]
    async with hosted() as opened:
        yield opened


@pytest.mark.req("P14")
@pytest.mark.parametrize("size", [65_535, 4 * 2**20 + 1, 20_000_000, 60_000_000])
async def test_large_results_arrive_whole(host: Host, size: int) -> None:
    """Case plugin-process-05."""
    outcome = await host.run("rogue.run", ("big", size))
    assert isinstance(outcome, Success)
    assert outcome.payload["x"] == "x" * size


@pytest.mark.req("P15", "P16")
async def test_a_result_above_the_maximum_is_a_size_error_and_the_process_stays(
    host: Host,
) -> None:
    """Case plugin-process-05."""
    before = await host.run("rogue.run", ("tell",))
    outcome = await host.run("rogue.run", ("big", 70_000_000))
    assert "64 MiB" in failure(outcome, ErrorCategory.EXECUTION_FAILED).message
    after = await host.run("rogue.run", ("tell",))
    assert isinstance(before, Success) and isinstance(after, Success)
    assert before.payload["pid"] == after.payload["pid"]


@pytest.mark.req("P6")
async def test_arguments_that_cannot_travel_are_refused_without_being_sent(host: Host) -> None:
    outcome = await host.run("rogue.run", n=float("nan"))
    failure(outcome, ErrorCategory.INVALID_ARGUMENTS)


@pytest.mark.req("P14")
async def test_two_thousand_calls_at_once_are_all_answered_some_hundreds_at_a_time(
    host: Host,
) -> None:
    """S15 at its full size; the server there has gRPC's own limits."""
    outcomes = await asyncio.gather(*(host.run() for _ in range(2_000)))
    assert all(isinstance(outcome, Success) for outcome in outcomes)
    told = await host.run("rogue.run", ("tell",))
    assert isinstance(told, Success)
    assert 1 < int(str(told.payload["most"])) <= 500


@pytest.mark.req("P15")
async def test_a_stream_left_open_after_its_end_is_no_result(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pluggableharness.kernel.plugins.calls.GRACE_S", 0.2)
    outcome = await host.run("rogue.run", ("result", {}), ("hang",))
    assert "still open" in failure(outcome, ErrorCategory.UNKNOWN).message
    assert isinstance(await host.run(), Success)


@pytest.mark.req("P11")
async def test_whatever_bytes_a_provider_sends_the_host_lives(host: Host) -> None:
    """R5 in small: the guard's own tests send the many."""
    for junk in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x00", bytes(range(256))):
        step = ("raw", base64.b64encode(junk).decode())
        failure(await host.run("rogue.run", step, step), ErrorCategory.UNKNOWN)
    assert isinstance(await host.run(), Success)


async def test_an_exception_of_the_listener_is_its_own_and_ends_the_call(host: Host) -> None:
    async def hear(event: LeadUp) -> None:
        raise RuntimeError("the frontend broke")

    call = host.make("rogue.run", ("progress", "x"), ("hang",))
    with pytest.raises(RuntimeError, match="the frontend broke"):
        await host.invoke(call, hear)
    assert isinstance(await host.run(), Success)
