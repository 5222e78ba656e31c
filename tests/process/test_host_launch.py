"""Starting and ending provider processes (K15, K16, P2, P28, P31)."""

import asyncio
import base64
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from rogue_host import LIMIT_S, MINE, Host, hosted, processes_with, rogue, seconds

from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Success
from pluggableharness.kernel.domain.render import TextNode
from pluggableharness.kernel.plugins import seat, supervisor
from pluggableharness.kernel.plugins.errors import ProviderLoadError, ProvidersNotLoaded
from pluggableharness.kernel.plugins.launch import launch, private_directory
from pluggableharness.kernel.plugins.process import start_provider
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.handshake import MAX_LINE_BYTES

TOLD_S = 1.0


@pytest.fixture(autouse=True)
def shared_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sockets of this test go here, so that what is left behind can be seen."""
    directory = Path(tempfile.mkdtemp(prefix="t-"))
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


def ended(pid: int) -> "asyncio.Future[None]":
    """Done once the process has ended."""
    loop = asyncio.get_running_loop()
    future, handle = loop.create_future(), os.pidfd_open(pid)

    def end() -> None:
        loop.remove_reader(handle)
        os.close(handle)
        future.set_result(None)

    loop.add_reader(handle, end)
    return future


async def refused(spec: ProviderSpec, timeout_s: float = LIMIT_S) -> str:
    with pytest.raises(ProviderLoadError) as error:
        async with asyncio.timeout(LIMIT_S):
            await start_provider(spec, Host()._file, timeout_s=timeout_s)
    assert error.value.provider == spec.name
    return str(error.value)


def command(*argv: str) -> ProviderSpec:
    return ProviderSpec("broken", argv)


SLEEP = seconds(1017)


@pytest.mark.req("K15")
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (command("sleep", SLEEP), "no handshake line within 1 s"),
        (command("sh", "-c", f"printf '1|1|unix|/tmp'; exec sleep {SLEEP}"), "'1|1|unix|/tmp'"),
    ],
)
async def test_a_plugin_without_a_handshake_fails_in_time_and_leaves_nothing(
    spec: ProviderSpec, told: str, shared_directory: Path
) -> None:
    """Case plugin-process-01: three failures, nothing left of them, then a good one works."""
    for _ in range(3):
        assert told in await refused(spec, TOLD_S)
        assert processes_with(SLEEP) == []
        assert list(shared_directory.iterdir()) == []
    good = await start_provider(rogue(), Host()._file)
    await good.close()


@pytest.mark.req("K15")
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (rogue("broken", prints="x", times=MAX_LINE_BYTES * 10), "longer than"),
        (rogue("broken", prints="hello\n"), "no handshake"),
        (rogue("broken", line="2|1|unix|{address}|grpc|\n"), "core protocol"),
        (rogue("broken", line="1|9|unix|{address}|grpc|\n"), "application protocol"),
        (rogue("broken", line="1|1|unix|{address}|netrpc|\n"), "only gRPC"),
        (rogue("broken", line="1|1|unix|{address}|grpc|AAAA\n"), "TLS"),
        (rogue("broken", line="1|1|tcp|192.0.2.1:80|grpc|\n"), "only this machine"),
        (rogue("broken", line="1|1|unix|/nonexistent/x|grpc|\n"), "UNAVAILABLE"),
        (rogue("broken", exits=3, says="no such library\n"), "exited with code 3"),
        (rogue("broken", exits=3, says="no such library\n"), "no such library"),
        (rogue("broken", unhealthy=True), "does not serve"),
        (rogue("broken", without=["GetSchema"]), "GetSchema failed: UNIMPLEMENTED"),
        (rogue("broken", without=["pluggableharness.tool.v1.ToolService"]), "UNIMPLEMENTED"),
        (rogue("broken", protocol_version=2), "protocol 2"),
        (rogue("broken", schema=base64.b64encode(b"\xff").decode()), "cannot be decoded"),
        (rogue("broken", refuse_config="no such host"), "no such host"),
        (command("/nonexistent/plugin"), "/nonexistent/plugin"),
        (command("no-such-program-anywhere"), "no-such-program-anywhere"),
        (command(), "cannot be started"),
        (command(str(Path(__file__))), "Permission denied"),
    ],
)
async def test_a_failed_start_tells_its_cause_and_leaves_nothing(
    spec: ProviderSpec, told: str, shared_directory: Path
) -> None:
    """Cases plugin-process-01 and -05, and the other ways not to be a plugin."""
    assert told in await refused(spec)
    assert processes_with(MINE) == []
    assert list(shared_directory.iterdir()) == []


@pytest.mark.req("K15")
@pytest.mark.parametrize("steps", [1, 2, 3, 20])
async def test_a_cancelled_start_leaves_nothing(steps: int, shared_directory: Path) -> None:
    starting = asyncio.create_task(launch(command("sleep", seconds(1018)), private_directory()))
    for _ in range(steps):
        await asyncio.sleep(0)
    assert processes_with(seconds(1018)), "the first step starts it"
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(LIMIT_S):
            await starting
    assert processes_with(seconds(1018)) == []
    assert list(shared_directory.iterdir()) == []


@pytest.mark.req("P2")
async def test_all_violations_of_all_providers_are_told_at_once() -> None:
    tool = tool_pb2.ToolSchema(name="bad name", kind=tool_pb2.TOOL_KIND_RESOURCE)
    declared = tool_pb2.GetSchemaResponse(tools=[tool]).SerializeToString()
    broken = rogue("broken", schema=base64.b64encode(declared).decode())
    host = Host(broken, rogue("other", exits=4), rogue())
    try:
        with pytest.raises(ProvidersNotLoaded) as error:
            await host.providers.operations()
        assert [one.provider for one in error.value.errors] == ["broken", "other"]
        assert len(error.value.errors[0].reasons) == 5
        assert "exited with code 4" in str(error.value)
        loaded = await host.providers.load(["rogue"])
        assert [operation.name for operation in loaded.operations] == [
            "run",
            "alone",
            "read",
            "quiet",
        ]
    finally:
        await host.providers.close()


SETTINGS = [
    {"name": "root", "type": "ATTR_TYPE_STRING", "required": True},
    {"name": "key", "type": "ATTR_TYPE_STRING", "sensitive": True},
    {"name": "depth", "type": "ATTR_TYPE_NUMBER", "default_json": "3"},
]


@pytest.mark.req("P28", "P31")
async def test_a_wrong_configuration_is_told_by_field_before_anything_is_sent() -> None:
    spec = rogue("broken", settings=SETTINGS, config={"key": ["s3cret-value"], "dept": 1})
    told = await refused(spec)
    assert "root: missing" in told
    assert "dept: there is no such setting; did you mean depth?" in told
    assert "key: expected a string" in told
    assert "s3cret-value" not in told


@pytest.mark.req("P28")
async def test_a_provider_gets_its_block_with_the_defaults_filled_in() -> None:
    async with hosted(rogue(settings=SETTINGS, config={"root": "/srv"})) as host:
        told = await host.run("rogue.run", ("tell",))
    assert isinstance(told, Success)
    assert told.payload["configured"] == {"root": "/srv", "depth": 3}


@pytest.mark.req("P31", "P15")
async def test_secrets_are_blotted_out_of_a_dead_providers_last_words() -> None:
    spec = rogue(
        settings=SETTINGS,
        config={"root": "/srv", "key": "s3cret-value"},
        environment={"TOKEN": "t0ken-of-the-environment"},
    )
    async with hosted(spec) as host:
        words = "key=s3cret-value token=t0ken-of-the-environment \x1b[2J end\n"
        outcome = await host.run("rogue.run", ("stderr", words), ("exit", 1))
    assert isinstance(outcome, Failure)
    assert "key=[secret] token=[secret] \\x1b[2J end" in outcome.message
    assert "s3cret-value" not in str(outcome)
    assert "t0ken-of-the-environment" not in str(outcome)


@pytest.mark.req("P31")
async def test_a_refused_configuration_does_not_repeat_a_secret() -> None:
    spec = rogue(
        "broken",
        settings=SETTINGS,
        config={"root": "/srv", "key": "s3cret-value"},
        refuse_config="cannot log in with s3cret-value",
    )
    assert "s3cret-value" not in await refused(spec)


@pytest.mark.req("P31", "K15")
async def test_a_provider_gets_a_small_environment_a_private_directory_and_no_stdin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KERNEL_API_KEY", "not for providers")
    async with hosted(rogue(environment={"FOR_IT": "yes"})) as host:
        told = await host.run("rogue.run", ("tell",))
    assert isinstance(told, Success)
    environment = told.payload["environment"]
    assert isinstance(environment, dict)
    assert "KERNEL_API_KEY" not in environment
    assert environment["FOR_IT"] == "yes"
    assert environment["PATH"] == os.environ["PATH"]
    assert "PLUGIN_MULTIPLEX_GRPC" not in environment
    assert told.payload["directory_mode"] == "0o700"
    assert told.payload["stdin"] == "/dev/null"


@pytest.mark.req("P30")
async def test_a_provider_is_known_by_its_configured_name_and_its_own_version() -> None:
    async with hosted(rogue("alias")) as host:
        producer = host.providers.producer("alias")
    assert (producer.name, producer.version, producer.category) == ("alias", "6.6.6", "tool")


async def test_a_plugin_without_stdio_broker_and_describe_is_fine() -> None:
    spec = rogue(without=["plugin.GRPCStdio", "plugin.GRPCBroker", "Describe"])
    async with hosted(spec) as host:
        assert isinstance(await host.run(), Success)


async def test_what_a_plugin_prints_through_stdio_counts_as_its_last_words() -> None:
    async with hosted() as host:
        outcome = await host.run("rogue.run", ("exit", 1))
    assert isinstance(outcome, Failure) and "through stdio" in outcome.message


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
        assert processes_with(seconds(315))
    assert processes_with(seconds(315)) == []


@pytest.mark.req("K16")
async def test_nothing_outlives_a_kernel_that_is_killed() -> None:
    """Case plugin-process-04: two plugins, one of them deaf to every request to end."""
    program = Path(__file__).parent.parent / "providers" / "killed_kernel.py"
    mark = f"killed-{os.getpid()}"
    kernel = await asyncio.create_subprocess_exec(
        sys.executable, str(program), mark, stdout=asyncio.subprocess.PIPE
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
