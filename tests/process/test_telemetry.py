"""Traces of real sessions at a collector that the test runs (K31)."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from process.collecting import absent, answering, attributes, collecting, silent
from process.harness import Harness, lines

from pluggableharness.kernel.store.reading import read_events

AUDIT = Path(__file__).parents[2] / "examples" / "audit-provider" / "audit_provider.py"

SCRIPT = """
prompt: the first secret
messages:
  - say: the second secret
    calls:
      - {tool: filesystem.write_file, arguments: {path: third-secret.txt, content: 4th secret}}
      - {tool: exec.bash, arguments: {command: "echo fifth secret; false"}}
      - {tool: filesystem.read_file, arguments: {path: sixth-secret.txt}}
      - {tool: agent.spawn_subagent, arguments: {profile: writer, prompt: the seventh secret}}
  - say: the last secret
agents:
  writer:
    tools: [filesystem.read_file]
    messages:
      - calls: [{tool: filesystem.read_file, arguments: {path: third-secret.txt}}]
      - say: done
"""


BUILTIN = "".join(f"  {name} = {{}}\n" for name in ("agent", "exec", "filesystem"))
REQUIRED = f"required_providers {{\n{BUILTIN}}}\n"


def configure(harness: Harness, address: str, more: str = REQUIRED) -> None:
    (harness.project / "agent.hcl").write_text(
        f'settings {{\n  telemetry = "{address}"\n}}\n{more}'
    )


def hooked(harness: Harness) -> str:
    """Providers, of which one forbids nothing before each call."""
    return (
        f"required_providers {{\n{BUILTIN}"
        f'  audit = {{ source = ["{sys.executable}", "{AUDIT}"] }}\n'
        f'}}\nprovider "audit" {{\n  log = "{harness.state}/audit"\n}}\n'
        'hook "pre-tool-call" {\n  provider = "audit"\n  mode = "veto"\n}\n'
    )


def path(span: Span, spans: list[Span]) -> str:
    """A span's name behind the names of those above it."""
    above = {one.span_id: one for one in spans}.get(span.parent_span_id)
    return f"{path(above, spans)} > {span.name}" if above else span.name


@pytest.mark.req("K31", "P7", "P31")
def test_a_session_and_its_sub_agent_are_one_trace_without_a_word_of_what_was_said(
    harness: Harness,
) -> None:
    with collecting() as collector:
        configure(harness, collector.address, hooked(harness))
        script = harness.script(SCRIPT)
        done = harness.run("run", "--script", script, "--allow-all", "--json")
        assert done.returncode == 0, done.stderr
    spans = collector.spans
    assert set(collector.paths) == {"/v1/traces"}
    assert collector.resource["service.name"] == "pluggableharness"
    assert len({span.trace_id for span in spans}) == 1
    turn = "invoke_agent default > turn"
    spawned = f"{turn} > execute_tool agent.spawn_subagent > invoke_agent writer"
    assert {path(span, spans) for span in spans} == {
        "invoke_agent default",
        turn,
        f"{turn} > chat script",
        f"{turn} > hook pre-tool-call",
        f"{turn} > wait_for_lock",
        f"{turn} > execute_tool filesystem.write_file",
        f"{turn} > execute_tool exec.bash",
        f"{turn} > execute_tool filesystem.read_file",
        f"{turn} > execute_tool agent.spawn_subagent",
        spawned,
        f"{spawned} > turn",
        f"{spawned} > turn > chat script writer",
        f"{spawned} > turn > hook pre-tool-call",
        f"{spawned} > turn > wait_for_lock",
        f"{spawned} > turn > execute_tool filesystem.read_file",
    }
    assert all(0 < span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
    assert b"secret" not in b"".join(collector.bodies)


@pytest.mark.req("K31", "P7")
def test_the_ids_of_a_trace_are_those_of_the_record(harness: Harness) -> None:
    with collecting() as collector:
        configure(harness, collector.address)
        harness.run("run", "--script", harness.script(SCRIPT), "--allow-all", "--json")
    logs = harness.logs()
    assert {attributes(span)["harness.session.id"] for span in collector.spans} == {
        log.stem for log in logs
    }
    filed = b"".join(event.payload for log in logs for event in read_events(log))
    tools = [span for span in collector.spans if span.name.startswith("execute_tool")]
    assert len(tools) == 5
    for span in tools:
        assert attributes(span)["harness.call.id"].encode() in filed
        assert attributes(span)["harness.turn.id"].encode() in filed
    (failed,) = [span for span in tools if span.status.code == Status.STATUS_CODE_ERROR]
    assert attributes(failed)["error.type"] == "not_found"


@pytest.mark.req("K31")
def test_the_standard_variables_say_what_the_configuration_does_not(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=mine")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-agents")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=blue")
    (harness.project / "a.txt").write_text("a\n")
    with collecting() as collector:
        configure(harness, f"{collector.address}/my/own/path")
        done = harness.run("call", "filesystem.read_file", "path=a.txt")
        assert done.returncode == 0, done.stderr
    assert set(collector.paths) == {"/my/own/path"}
    assert all(headers["x-key"] == "mine" for headers in collector.headers)
    assert collector.resource["service.name"] == "my-agents"
    assert collector.resource["team"] == "blue"


@pytest.mark.req("K31")
def test_a_sampler_that_takes_nothing_is_no_loss(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with collecting() as collector:
        configure(harness, collector.address)
        done = harness.run("run", "--script", harness.script("messages: [{say: hello}]"))
    assert (done.returncode, done.stderr) == (0, "")
    assert not collector.bodies


@pytest.mark.req("K31", "P16")
@pytest.mark.parametrize(
    "trouble",
    [absent, silent, partial(answering, 500), partial(answering, 503)],
    ids=["absent", "silent", "500", "503"],
)
def test_a_collector_that_does_not_take_them_costs_a_session_nothing_but_a_line(
    harness: Harness, trouble: Callable[[], AbstractContextManager[str]]
) -> None:
    script = harness.script("messages: [{say: hello}]")
    with trouble() as address:
        configure(harness, address)
        done = harness.run("run", "--script", script, "--json")
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout)[-1]["type"] == "session_ended"
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"3 of 3 spans did not reach the collector at {address}/v1/traces")


WITHOUT = """
import sys
from pluggableharness.cli.main import main
code = main(sys.argv[1:])
print([name for name in sys.modules if name.startswith(("opentelemetry", "requests"))])
sys.exit(code)
"""


@pytest.mark.req("K31")
def test_nothing_of_it_is_imported_where_no_collector_is_configured(harness: Harness) -> None:
    script = harness.script("messages: [{say: hello}]")
    words = [sys.executable, "-c", WITHOUT, "run", "--script", script, "--json"]
    done = subprocess.run(
        words, cwd=harness.project, env=harness.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.req("K31", "P16")
def test_a_collector_without_the_package_is_an_error_that_says_what_to_install(
    harness: Harness,
) -> None:
    configure(harness, "http://127.0.0.1:4318")
    missing = "import sys\nsys.modules['opentelemetry.sdk'] = None\n" + WITHOUT
    script = harness.script("messages: [{say: hello}]")
    words = [sys.executable, "-c", missing, "run", "--script", script]
    done = subprocess.run(
        words, cwd=harness.project, env=harness.environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "install the extra `telemetry` of pluggableharness" in done.stderr
    assert not harness.logs()


@pytest.mark.req("K31", "F1")
@pytest.mark.parametrize("wrong", ["localhost:4318", "ftp://host", "", "http://me:word@host"])
def test_what_is_no_address_of_a_collector_is_an_error_with_its_place(
    harness: Harness, wrong: str
) -> None:
    configure(harness, wrong)
    done = harness.run("config", "check")
    assert done.returncode == 2
    assert "agent.hcl:2:15" in done.stderr
    assert "'telemetry' is an address" in done.stderr
    assert "me:word" not in done.stderr.partition("\n")[0]
