"""A provider process from its first use to its end: once, restarted, locked, and gone."""

import asyncio
import base64
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from process_tree import eventually, seconds
from rogue_host import (
    LIMIT_S,
    MINE,
    Host,
    ended,
    hosted,
    processes_with,
    refused,
    rogue,
)

from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Success
from pluggableharness.kernel.domain.render import TextNode
from pluggableharness.kernel.plugins import seat, supervisor
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec
from pluggableharness.kernel.private import clear_abandoned
from pluggableharness.wire import tool_pb2

pytestmark = pytest.mark.usefixtures("shared_directory")


@pytest.mark.req("K15")
async def test_a_provider_is_started_once_however_many_ask() -> None:
    async with hosted() as host:
        await host.run("rogue.run", ("exit", 1))
        outcomes = await asyncio.gather(*(host.run("rogue.run", ("tell",)) for _ in range(20)))
        assert len(processes_with(MINE)) == 2, "one guard, one provider"
    pids = {outcome.payload["pid"] for outcome in outcomes if isinstance(outcome, Success)}
    assert len(outcomes) == 20 and len(pids) == 1


@pytest.mark.req("K15")
async def test_who_stops_waiting_does_not_stop_the_start_for_others() -> None:
    host = Host(rogue())
    try:
        first = asyncio.create_task(host.load())
        second = asyncio.create_task(host.load())
        while not processes_with(MINE):
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(second, LIMIT_S)
        assert host.operations
    finally:
        await host.providers.close()


@pytest.mark.req("K15")
async def test_after_crashes_without_a_success_between_the_restart_waits() -> None:
    pauses: list[int] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        # In thousands, of which the time that the test itself takes is nothing.
        pauses.append(round(seconds / 1000))
        await real(0)

    async with hosted() as host:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(seat, "_FIRST_PAUSE_S", 1_000.0)
            patch.setattr(seat, "_LONGEST_PAUSE_S", 3_000.0)
            patch.setattr("pluggableharness.kernel.plugins.seat.asyncio.sleep", sleep)
            for _ in range(3):
                await host.run("rogue.run", ("exit", 1))
            await host.run()
            await host.run("rogue.run", ("exit", 1))
            await host.run()
    restarts = [pause for pause in pauses if pause != 0] + pauses[-1:]
    assert restarts == [1, 2, 3, 0], "longer each time, and at once after a success"


@pytest.mark.req("P1", "P2")
async def test_a_provider_that_declares_something_else_after_a_restart_is_refused(
    tmp_path: Path,
) -> None:
    switch = tmp_path / "switch"
    schema = tool_pb2.GetSchemaResponse().SerializeToString()
    script = f'exec {sys.executable} {rogue().command[1]} "$(cat {switch})"'
    switch.write_text(json.dumps({"mark": MINE}))
    async with hosted(ProviderSpec("rogue", ("sh", "-c", script))) as host:
        assert processes_with(MINE)
        switch.write_text(json.dumps({"mark": MINE, "schema": base64.b64encode(schema).decode()}))
        await host.run("rogue.run", ("exit", 1))
        with pytest.raises(ProviderLoadError, match="declares other operations"):
            await host.run()
    assert processes_with(MINE) == []


@pytest.mark.req("K15")
async def test_a_provider_that_could_not_be_started_again_is_started_once_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case plugin-process-01: a failed start leaves neither a process nor half a state."""
    monkeypatch.setattr(seat, "_FIRST_PAUSE_S", 0.0)
    mute = tmp_path / "mute"
    stuck = f"[ -e {mute} ] && {{ echo hello; exec sleep {seconds(1019)}; }}"
    script = f"{stuck}; exec {shlex.join(rogue().command)}"
    async with hosted(ProviderSpec("rogue", ("sh", "-c", script))) as host:
        mute.touch()
        await host.run("rogue.run", ("exit", 1))
        for _ in range(3):
            with pytest.raises(ProviderLoadError, match="no handshake"):
                await host.run()
            assert processes_with(seconds(1019)) == []
        mute.unlink()
        assert isinstance(await host.run(), Success)


@pytest.mark.req("F8", "P18")
async def test_a_session_instance_has_a_process_for_each_session_and_ends_with_it() -> None:
    async with hosted(rogue(instance=Instance.SESSION)) as host:
        one, again, two = [
            await host.run("rogue.run", ("tell",), session=session) for session in ("a", "a", "b")
        ]
        assert isinstance(one, Success) and isinstance(again, Success) and isinstance(two, Success)
        assert one.payload["pid"] == again.payload["pid"] != two.payload["pid"]
        assert len(processes_with(MINE)) == 4, "none but those of the two sessions"
        await host.providers.end_session("a")
        assert len(processes_with(MINE)) == 2
        assert isinstance(await host.run(session="b"), Success)


@pytest.mark.req("P18", "P19")
async def test_a_call_waits_for_the_lock_of_another_session_in_the_same_process() -> None:
    started = asyncio.Event()

    async def hear(event: object) -> None:
        started.set()

    async with hosted() as host, asyncio.timeout(LIMIT_S):
        call = host.make("rogue.alone", ("progress", "in"), ("hang",), session="a")
        holding = asyncio.create_task(host.invoke(call, hear))
        await started.wait()
        waiting = asyncio.create_task(host.run("rogue.run", session="b"))
        while not host.providers._seats["rogue", None].locks._queue:
            await asyncio.sleep(0)
        assert not waiting.done()
        holding.cancel()
        await asyncio.wait([holding])
        assert isinstance(await waiting, Success)


@pytest.mark.req("F8")
async def test_exclusive_calls_of_two_sessions_do_not_wait_for_each_other() -> None:
    started = asyncio.Event()

    async def hear(event: object) -> None:
        started.set()

    async with hosted(rogue(instance=Instance.SESSION)) as host:
        call = host.make("rogue.alone", ("progress", "in"), ("hang",), session="a")
        hanging = asyncio.create_task(host.invoke(call, hear))
        await asyncio.wait_for(started.wait(), LIMIT_S)
        assert isinstance(await host.run("rogue.alone", session="b"), Success)
        hanging.cancel()
        await asyncio.wait([hanging])


@pytest.mark.req("P19", "P20")
async def test_an_exclusive_call_has_its_process_to_itself() -> None:
    async with hosted() as host:
        names = ["rogue.run", "rogue.alone"] * 10
        step = ("wait", 0.01)
        outcomes = await asyncio.gather(
            *(host.run(name, step, ("tell",)) for name in names), host.run("rogue.run")
        )
        assert all(isinstance(outcome, Success) for outcome in outcomes)


@pytest.mark.req("P23")
async def test_a_call_behind_its_own_ancestor_fails_at_once_and_says_who_holds() -> None:
    ancestors: dict[str, frozenset[str]] = {}
    started = asyncio.Event()

    async def hear(event: object) -> None:
        started.set()

    async with hosted(ancestors=lambda session: ancestors.get(session, frozenset())) as host:
        parent = host.make("rogue.alone", ("progress", "in"), ("hang",), session="parent")
        holding = asyncio.create_task(host.invoke(parent, hear))
        await asyncio.wait_for(started.wait(), LIMIT_S)
        ancestors["child"] = frozenset({parent.id})
        outcome = await host.run("rogue.run", session="child")
        assert isinstance(outcome, Failure)
        assert outcome.category is ErrorCategory.CONCURRENCY_CONFLICT
        assert parent.id in outcome.message
        holding.cancel()
        await asyncio.wait([holding])


@pytest.mark.req("P29")
async def test_a_preview_says_what_would_happen_and_a_missing_or_failing_one_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervisor, "PREVIEW_S", 0.3)
    async with hosted() as host:
        expected = {
            "": TextNode("would do it"),
            "fails": None,
            "empty": None,
            "nonsense": None,
            "slow": None,
        }
        for how, node in expected.items():
            assert await host.providers.preview(host.make("rogue.run", preview=how)) == node
    async with hosted(rogue(without=["Preview"])) as host:
        assert await host.providers.preview(host.make()) is None


@pytest.mark.req("P30")
async def test_a_recorded_payload_is_drawn_by_its_provider_if_that_can() -> None:
    async with hosted() as host:
        drawn = await host.providers.render("rogue", b"recorded", "1")
        assert drawn == TextNode("1: recorded")
        assert await host.providers.render("rogue", b"fails", "1") is None
        assert await host.providers.render("gone", b"recorded", "1") is None
    async with hosted(rogue(without=["Render"])) as host:
        assert await host.providers.render("rogue", b"recorded", "1") is None


@pytest.mark.req("K15", "K16")
async def test_crashes_and_failed_starts_leave_no_descriptor_and_no_task_behind(
    shared_directory: Path,
) -> None:
    """R1 in small."""
    async with hosted() as host:

        async def crash() -> None:
            await host.run()
            outcome = await host.run("rogue.run", ("kill", "SIGKILL"))
            assert isinstance(outcome, Failure)
            assert isinstance(await host.run(), Success)

        await crash()
        before = len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())
        for _ in range(8):
            await crash()
            await refused(rogue("broken", exits=1))
        assert (len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())) == before
        assert len(list(shared_directory.iterdir())) == 1
        assert len(processes_with(MINE)) == 2


@pytest.mark.req("K16")
@pytest.mark.parametrize("options", [{}, {"deaf": True}, {"lingers": True}])
async def test_closing_ends_every_process_willing_or_not(
    options: dict[str, Any], shared_directory: Path
) -> None:
    async with hosted(rogue(**options)) as host:
        await host.run()
    assert processes_with(MINE) == []
    assert list(shared_directory.iterdir()) == []


@pytest.mark.req("K16")
async def test_stopping_a_plugin_ends_the_children_that_hold_its_pipes() -> None:
    """Case plugin-process-06."""
    async with hosted() as host:
        await host.run("rogue.run", ("child", seconds(315), False), ("result", {}))
        await asyncio.to_thread(
            eventually, lambda: bool(processes_with(seconds(315))), "the child's command line"
        )
    assert processes_with(seconds(315)) == []


@pytest.mark.req("K16")
async def test_nothing_outlives_a_kernel_that_is_killed(shared_directory: Path) -> None:
    """Case plugin-process-04: two plugins, one of them deaf to every request to end."""
    program = Path(__file__).parent.parent / "providers" / "killed_kernel.py"
    mark = f"killed-{os.getpid()}"
    kernel = await asyncio.create_subprocess_exec(
        sys.executable,
        str(program),
        mark,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(shared_directory)},
    )
    assert kernel.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            assert await kernel.stdout.readline() == b"ready\n"
            providers = processes_with(f'"mark": "{mark}"')
            assert len(providers) == 4, "two of each, with their guards"
            ends = [ended(pid) for pid in providers]
            kernel.send_signal(signal.SIGKILL)
            await asyncio.gather(kernel.wait(), *ends)
    finally:
        if kernel.returncode is None:
            kernel.kill()
    assert len(list(shared_directory.iterdir())) == 2
    clear_abandoned.__wrapped__()
    assert list(shared_directory.iterdir()) == []
