"""Starting and ending provider processes (K15, K16, P2, P28, P31)."""

import asyncio
import base64
import logging
import os
import sys
from pathlib import Path

import pytest
from process_tree import eventually, seconds
from rogue_host import (
    LIMIT_S,
    MINE,
    Host,
    command,
    hosted,
    processes_with,
    refused,
    rogue,
)

from pluggableharness.kernel.domain.outcome import Failure, Success
from pluggableharness.kernel.plugins.launch import launch
from pluggableharness.kernel.plugins.process import start_provider
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.private import PrivateDirectory
from pluggableharness.wire import schema_pb2, tool_pb2
from pluggableharness.wire.handshake import MAX_LINE_BYTES

TOLD_S = 1.0


SLEEP = seconds(1017)

pytestmark = pytest.mark.usefixtures("shared_directory")


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
        (command(str(Path(__file__))), "chmod +x"),
        (command(sys.executable, "-ISc", "import pluggableharness"), f"such as {sys.executable}"),
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
    starting = asyncio.create_task(launch(command("sleep", seconds(1018)), PrivateDirectory()))
    for _ in range(steps):
        await asyncio.sleep(0)
    # Without a step of the loop: a process that has just begun still bears its parent's name.
    eventually(lambda: bool(processes_with(seconds(1018))), "the first step starts it")
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
        offered = await host.providers.operations()
        assert list(host.providers.absent) == ["broken", "other"]
        assert host.providers.absent["broken"].count("\n  - ") == 5
        assert "exited with code 4" in host.providers.absent["other"]
        assert [operation.name for operation in offered] == [
            "run",
            "alone",
            "read",
            "quiet",
        ]
    finally:
        await host.providers.close()


@pytest.mark.req("P4", "P5")
async def test_what_has_no_effect_is_warned_of_once_when_the_provider_loads(
    caplog: pytest.LogCaptureFixture,
) -> None:
    empty = schema_pb2.Schema(type=schema_pb2.SCHEMA_TYPE_OBJECT)
    text = schema_pb2.Schema(type=schema_pb2.SCHEMA_TYPE_STRING)
    tools = [
        tool_pb2.ToolSchema(
            name="run",
            kind=tool_pb2.TOOL_KIND_RESOURCE,
            risk=tool_pb2.RISK_CLASS_LOW,
            description="Runs.",
            input_schema=schema_pb2.Schema(type=empty.type, properties={"path": text}),
            output_schema=empty,
            concurrency=tool_pb2.ConcurrencySpec(key_fields=["path"]),
        ),
        tool_pb2.ToolSchema(
            name="ask",
            kind=tool_pb2.TOOL_KIND_INTERACTIVE,
            risk=tool_pb2.RISK_CLASS_READ_ONLY,
            description="Asks.",
            input_schema=empty,
            output_schema=empty,
            concurrency=tool_pb2.ConcurrencySpec(safe=True),
        ),
    ]
    declared = tool_pb2.GetSchemaResponse(tools=tools).SerializeToString()
    caplog.set_level(logging.WARNING, "pluggableharness.providers")
    async with hosted(rogue(schema=base64.b64encode(declared).decode())) as host:
        await host.run("rogue.run", ("exit", 1))
        assert isinstance(await host.run("rogue.run", ("result", {})), Success), "started anew"
    told = [one.getMessage() for one in caplog.records if one.name == "pluggableharness.providers"]
    assert told == [
        "rogue.run: key_fields have no effect without safe",
        "rogue.ask: concurrency is ignored, interactive calls run one by one",
    ]


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
