"""Calls to a real provider process, whatever that process does (P10-P16, P25-P27, K14)."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from process_tree import seconds
from rogue_host import LIMIT_S, Host, failure, hosted, processes_with, rogue

from pluggableharness.kernel.domain.cancelled import CallCancelled
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    Failure,
    LeadUp,
    Outcome,
    OutputChunk,
    Progress,
    Success,
)
from pluggableharness.kernel.plugins import calls
from pluggableharness.kernel.plugins.stream_guard import MAY_HAVE_HAPPENED


@pytest.fixture
async def host() -> Host:  # type: ignore[misc]
    async with hosted() as opened:
        yield opened


@pytest.mark.req("P7", "P9", "P10")
async def test_a_call_brings_its_id_and_place_and_returns_its_result(host: Host) -> None:
    call = host.make("rogue.run", ("tell",))
    outcome = await host.invoke(call)
    assert isinstance(outcome, Success)
    told = outcome.payload
    assert (told["id"], told["session"], told["turn"], told["cwd"]) == (
        call.id,
        "session",
        "turn",
        "/work",
    )


@pytest.mark.req("P10")
async def test_events_are_heard_in_the_order_sent(host: Host) -> None:
    heard: list[LeadUp] = []

    async def hear(event: LeadUp) -> None:
        heard.append(event)

    steps = [("progress", str(number)) for number in range(50)]
    await host.invoke(host.make("rogue.run", *steps, ("result", {})), hear)
    assert heard == [Progress(str(number)) for number in range(50)]


@pytest.mark.req("P14")
async def test_the_next_event_is_not_read_before_the_last_one_was_taken(host: Host) -> None:
    gate, waiting = asyncio.Event(), asyncio.Event()
    taken = 0

    async def hear(event: LeadUp) -> None:
        nonlocal taken
        assert isinstance(event, OutputChunk)
        taken += 1
        waiting.set()
        await gate.wait()

    call = host.make("rogue.run", ("chunks", 40, 1_000_000), ("result", {}))
    running = asyncio.create_task(host.invoke(call, hear))
    await asyncio.wait_for(waiting.wait(), LIMIT_S)
    # Another call passes meanwhile: the slow consumer holds up its own stream alone.
    assert isinstance(await host.run(), Success)
    assert taken == 1
    gate.set()
    assert isinstance(await running, Success)
    assert taken == 40


@pytest.mark.req("P11")
async def test_a_broken_stream_is_unknown_and_the_process_stays(host: Host) -> None:
    outcome = await host.run("rogue.run", ("raw", ""), ("result", {}))
    broken = failure(outcome, ErrorCategory.UNKNOWN)
    assert MAY_HAVE_HAPPENED in broken.message
    assert isinstance(await host.run(), Success)


@pytest.mark.req("P11")
async def test_lead_up_events_of_an_operation_that_does_not_stream_are_a_breach(
    host: Host,
) -> None:
    outcome = await host.run("rogue.quiet", ("progress", "x"), ("result", {}))
    assert "streaming = false" in failure(outcome, ErrorCategory.UNKNOWN).message


@pytest.mark.req("P11", "P15")
async def test_an_exception_in_the_provider_is_an_error_and_the_process_stays(host: Host) -> None:
    """Case plugin-process-03."""
    first = await host.run("rogue.run", ("tell",))
    outcome = await host.run("rogue.run", ("raise", "boom"))
    assert "boom" in str(failure(outcome, ErrorCategory.UNKNOWN).details)
    again = await host.run("rogue.run", ("tell",))
    assert isinstance(first, Success) and isinstance(again, Success)
    assert first.payload["pid"] == again.payload["pid"]


@pytest.mark.req("P15")
@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("UNAVAILABLE", ErrorCategory.UNKNOWN),
        ("INTERNAL", ErrorCategory.UNKNOWN),
        ("UNIMPLEMENTED", ErrorCategory.NOT_FOUND),
        ("RESOURCE_EXHAUSTED", ErrorCategory.UNKNOWN),
        ("CANCELLED", ErrorCategory.EXECUTION_FAILED),
    ],
)
async def test_a_status_from_a_living_provider_is_no_crash(
    host: Host, code: str, category: ErrorCategory
) -> None:
    outcome = await host.run("rogue.run", ("status", code, "said so"))
    assert failure(outcome, category).retryable is (code == "CANCELLED")
    assert isinstance(await host.run(), Success)


@pytest.mark.req("P11")
async def test_a_result_before_a_failing_status_is_no_result(host: Host) -> None:
    outcome = await host.run("rogue.run", ("result", {}), ("status", "INTERNAL", "after all"))
    assert "INTERNAL after" in failure(outcome, ErrorCategory.UNKNOWN).message


@pytest.mark.req("P15")
@pytest.mark.parametrize(
    ("end", "words", "details"),
    [
        (("exit", 3), "exited with code 3", {"exit_code": 3}),
        (("kill", "SIGKILL"), "was killed by SIGKILL", {"signal": "SIGKILL"}),
    ],
)
async def test_a_process_that_dies_ends_every_call_with_how_and_its_last_words(
    host: Host, end: tuple[str, object], words: str, details: dict[str, object]
) -> None:
    """Case plugin-process-02."""
    sent = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        sent.set()

    async def hang() -> Outcome:
        return await host.invoke(host.make("rogue.run", ("progress", "in"), ("hang",)), hear)

    others = [asyncio.create_task(hang()) for _ in range(2)]
    await asyncio.wait_for(sent.wait(), LIMIT_S)
    outcomes = [await host.run("rogue.run", ("stderr", "my last word\n"), end)]
    outcomes += await asyncio.wait_for(asyncio.gather(*others), LIMIT_S)
    for outcome in outcomes:
        crashed = failure(outcome, ErrorCategory.PROCESS_CRASHED)
        assert words in crashed.message
        assert "my last word" in crashed.message
        assert MAY_HAVE_HAPPENED in crashed.message
        assert crashed.details is not None
        assert crashed.details.items() >= details.items()
    assert isinstance(await host.run(), Success)


@pytest.mark.req("P15")
async def test_a_death_is_noticed_although_a_child_holds_the_connection_open(host: Host) -> None:
    """Case plugin-process-06: nobody waits for an end of file that a child puts off."""
    outcome = await asyncio.wait_for(
        host.run("rogue.run", ("child", seconds(316), True), ("exit", 1)), LIMIT_S
    )
    failure(outcome, ErrorCategory.PROCESS_CRASHED)
    assert isinstance(await host.run(), Success)
    assert processes_with(seconds(316)) == []


@pytest.mark.req("P15")
async def test_calls_end_although_the_guard_is_killed_and_a_child_holds_the_connection(
    host: Host,
) -> None:
    told = await host.run("rogue.run", ("tell",))
    assert isinstance(told, Success)
    status = Path(f"/proc/{told.payload['pid']}/status").read_text()
    [guard] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid")]
    started = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        started.set()

    steps = ("child", seconds(318), True), ("progress", "in"), ("hang",)
    call = asyncio.create_task(host.invoke(host.make("rogue.run", *steps), hear))
    try:
        await asyncio.wait_for(started.wait(), LIMIT_S)
        os.kill(guard, signal.SIGKILL)
        crashed = failure(await asyncio.wait_for(call, LIMIT_S), ErrorCategory.PROCESS_CRASHED)
        assert "unknown way" in crashed.message
        assert isinstance(await host.run(), Success)
    finally:
        for pid in processes_with(seconds(318)):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.req("P15")
async def test_a_process_that_closes_its_stdout_goes_on_working(host: Host) -> None:
    """Case plugin-process-02, its third program."""
    assert isinstance(await host.run("rogue.run", ("close_stdout",), ("result", {})), Success)
    assert isinstance(await host.run(), Success)


@pytest.mark.req("P15", "K15")
async def test_a_connection_that_breaks_without_a_death_is_a_crash_too() -> None:
    async with hosted(rogue(lingers=True)) as host:
        before = await host.run("rogue.run", ("tell",))
        outcome = await host.run("rogue.run", ("stop_serving",))
        assert "broke its connection" in failure(outcome, ErrorCategory.PROCESS_CRASHED).message
        after = await host.run("rogue.run", ("tell",))
        assert isinstance(before, Success) and isinstance(after, Success)
        assert before.payload["pid"] != after.payload["pid"]


@pytest.mark.req("K14", "P15", "P26")
async def test_a_call_over_its_deadline_is_cancelled_and_tells_what_it_had_done(
    host: Host,
) -> None:
    call = host.make("rogue.run", ("hang",), deadline_s=0.2, on_cancel=["report", {"rows": 7}])
    late = failure(await host.invoke(call), ErrorCategory.TIMEOUT)
    assert late.details == {"rows": 7}
    assert "0.2 s" in late.message
    assert MAY_HAVE_HAPPENED in late.message
    assert isinstance(await host.run(), Success)


@pytest.mark.req("K14")
async def test_the_deadline_does_not_run_while_a_call_waits_for_its_lock(host: Host) -> None:
    entered = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        entered.set()

    first = host.make("rogue.alone", ("progress", "in"), ("wait", 1.0), ("result", {}))
    holding = asyncio.create_task(host.invoke(first, hear))
    await asyncio.wait_for(entered.wait(), LIMIT_S)
    waiting = await host.invoke(host.make("rogue.alone", ("result", {}), deadline_s=0.5))
    assert isinstance(waiting, Success)
    assert isinstance(await holding, Success)


async def cancel_when_heard(host: Host, *steps: tuple[object, ...], **more: object) -> Failure:
    started = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        started.set()

    call = host.make("rogue.run", ("progress", "in"), *steps, **more)
    task = asyncio.create_task(host.invoke(call, hear))
    await asyncio.wait_for(started.wait(), LIMIT_S)
    task.cancel()
    with pytest.raises(CallCancelled) as cancelled:
        await task
    assert cancelled.value.failure.category is ErrorCategory.CANCELLED
    return cancelled.value.failure


@pytest.mark.req("P25", "P26")
async def test_a_cancelled_call_ends_with_the_report_that_came_over_emit(host: Host) -> None:
    report = await cancel_when_heard(host, ("hang",), on_cancel=["report", {"written": 3}])
    assert report.details == {"written": 3}
    assert host.filed == []
    assert isinstance(await host.run(), Success)


@pytest.mark.req("P27", "P26", "K15")
@pytest.mark.parametrize("how", [["ignore"], ["result"]])
async def test_a_provider_that_ignores_cancelling_is_killed_and_others_there_end_as_crashed(
    host: Host, how: list[str]
) -> None:
    before = await host.run("rogue.run", ("tell",))
    other = asyncio.create_task(host.run("rogue.run", ("hang",)))
    silent = await cancel_when_heard(host, ("hang",), on_cancel=how)
    assert silent.details is None
    assert "ignored the cancelling" in silent.message
    crashed = failure(await asyncio.wait_for(other, LIMIT_S), ErrorCategory.PROCESS_CRASHED)
    assert "ignored the cancelling" in crashed.message
    after = await host.run("rogue.run", ("tell",))
    assert isinstance(before, Success) and isinstance(after, Success)
    assert before.payload["pid"] != after.payload["pid"]


@pytest.mark.req("P26")
async def test_no_result_counts_for_a_call_that_was_cancelled_after_it(host: Host) -> None:
    held = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        held.set()
        await asyncio.Event().wait()

    call = host.make("rogue.run", ("progress", "x"), ("result", {"done": True}))
    task = asyncio.create_task(host.invoke(call, hear))
    await asyncio.wait_for(held.wait(), LIMIT_S)
    task.cancel()
    with pytest.raises(CallCancelled):
        await task


@pytest.mark.req("P26", "P27")
async def test_a_call_that_ends_just_as_it_is_cancelled_is_not_taken_for_a_deaf_one(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is on its way may take longer than usual to arrive on a machine that is busy.
    monkeypatch.setattr(calls, "_CATCH_UP_S", LIMIT_S)
    before = await host.run("rogue.run", ("tell",))

    async def hear(event: LeadUp) -> None:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()

    for _ in range(30):
        call = host.make("rogue.run", ("progress", "in"), ("result", {"done": True}))
        with pytest.raises(CallCancelled) as cancelled:
            await asyncio.create_task(host.invoke(call, hear))
        assert "had just ended" in cancelled.value.failure.message
    after = await host.run("rogue.run", ("tell",))
    assert isinstance(before, Success) and isinstance(after, Success)
    assert before.payload["pid"] == after.payload["pid"]


@pytest.mark.req("P25")
async def test_a_call_cancelled_while_it_waits_for_its_lock_was_never_sent(host: Host) -> None:
    entered = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        entered.set()

    first = host.make("rogue.alone", ("progress", "in"), ("wait", 0.5), ("result", {}))
    holding = asyncio.create_task(host.invoke(first, hear))
    await asyncio.wait_for(entered.wait(), LIMIT_S)
    waiting = asyncio.create_task(host.run("rogue.alone", ("exit", 1)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert isinstance(await holding, Success)
    assert isinstance(await host.run(), Success)
