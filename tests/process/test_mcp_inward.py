"""MCP servers as providers: good ones and hostile ones, each a real process (K35, F3, F4)."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process.harness import Harness, lines
from process_tree import alive, eventually, with_word

HERE = Path(__file__).parent
SERVER = str(HERE / "mcp_server.py")
HTTP_SERVER = str(HERE / "mcp_http_server.py")
DESTROY = "destroy_all_55c3d4f19388"


def configured(harness: Harness, block: str = "", rules: str = "", **behaviour: Any) -> None:
    command = json.dumps([sys.executable, SERVER, json.dumps(behaviour)])
    (harness.project / "agent.hcl").write_text(
        f'required_providers {{\n  tool = {{ source = "mcp", command = {command} }}\n}}\n'
        f'provider "tool" {{\n{block}\n}}\n{rules}\n'
    )


def call(harness: Harness, operation: str, *words: str, **arguments: Any) -> dict[str, Any]:
    """The last line of a call: its result, or its error."""
    given = ("--args", json.dumps(arguments))
    done = harness.run("call", f"tool.{operation}", *given, *words, "--json")
    told = lines(done.stdout)
    assert told, done.stderr
    return told[-1]


def payload(harness: Harness, operation: str, *words: str, **arguments: Any) -> Any:
    said = call(harness, operation, *words, **arguments)
    assert said["type"] == "result", said
    return said["payload"]


def tools(harness: Harness) -> dict[str, dict[str, Any]]:
    done = harness.run("tools", "--json")
    assert done.returncode == 0, done.stderr
    return {one["operation"]: one for one in json.loads(done.stdout)}


@pytest.mark.req("K35", "F3")
def test_its_tools_become_operations_that_say_what_they_are(harness: Harness) -> None:
    configured(harness, 'operation "put" {\n  risk = "critical"\n}')
    there = tools(harness)
    assert len(there) == 14
    assert (there["look"]["kind"], there["look"]["risk"]) == ("data_source", "read_only")
    assert (there["put"]["kind"], there["put"]["risk"]) == ("resource", "critical")
    destroy = there[DESTROY]
    assert (destroy["kind"], destroy["risk"]) == ("resource", "high")
    said = destroy["input_schema"]["properties"]
    assert said["what"]["type"] == "string"
    assert said["what"]["description"].startswith("What to destroy\nA value written as JSON")
    assert said["times"]["description"] == ('JSON Schema: {"minimum":1,"default":1} (whole number)')
    assert said["mode"]["enum"] == ["soft", "hard"]


@pytest.mark.req("K35")
def test_calls_reach_it_under_its_own_names_and_with_its_own_values(harness: Harness) -> None:
    configured(harness)
    given = {"what": "[1, 2]", "times": 2, "mode": "soft"}
    (said,) = payload(harness, DESTROY, **given)["content"]
    assert said == {
        "type": "text",
        "text": 'destroy.all {"mode": "soft", "times": 2, "what": [1, 2]}',
    }
    refused = call(harness, DESTROY, what="plain")
    assert refused["category"] == "invalid_arguments"
    assert "written as JSON" in refused["message"]


@pytest.mark.req("K35", "P14")
def test_what_is_no_text_or_too_much_of_it_is_said_to_be_left_out(harness: Harness) -> None:
    configured(harness)
    (image,) = payload(harness, "image")["content"]
    assert (image["mime_type"], image["size_bytes"]) == ("image/png", 100_005)
    cut, more = payload(harness, "huge")["content"]
    assert len(cut["text"]) == 1024 * 1024
    assert "ask for less" in cut["left_out"]
    assert more["text"] == ""
    assert payload(harness, "structured")["structured"] == {"n": 1, "none": None}


@pytest.mark.req("K35", "P15")
def test_its_errors_are_errors(harness: Harness) -> None:
    configured(harness)
    failed, refused = call(harness, "fail"), call(harness, "refuse")
    assert (failed["category"], failed["message"]) == ("execution_failed", "the disk is full")
    assert (refused["category"], refused["message"]) == (
        "execution_failed",
        "tool: not like this",
    )


@pytest.mark.req("K35", "F8", "P31")
def test_it_gets_the_few_variables_that_all_get_and_those_that_are_named(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", "yes")
    monkeypatch.setenv("OPENAI_API_KEY", "not for others")
    configured(harness, 'environment = ["GIVEN"]')
    (said,) = payload(harness, "environment")["content"]
    names = set(json.loads(said["text"]))
    assert "GIVEN" in names
    assert names - {"GIVEN"} <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


@pytest.mark.req("K35", "P10")
def test_noise_on_its_stdout_is_no_message_and_harms_nothing(harness: Harness) -> None:
    configured(harness, noise=True)
    (said,) = payload(harness, "look", text="x")["content"]
    assert said["text"] == 'look {"text": "x"}'


DEEP = "[" * 500 + "]" * 500


@pytest.mark.req("K35", "P10", "P15")
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (f'{{"content": [], "structuredContent": {{"n": {DEEP}}}}}', "recursion limit"),
        ('{"content": [{"type": "text", "text": "\\ud800"}]}', "hex escape"),
        ('{"content": [], "content": []}', '"content" stands twice'),
        ("5", "neither a request nor an answer"),
        ("{}", "content"),
    ],
    ids=["deep", "half a pair", "twice", "no result", "no content"],
)
def test_an_answer_that_cannot_be_read_fails_its_call_and_harms_no_other(
    harness: Harness, raw: str, said: str
) -> None:
    configured(harness, raw=raw)
    script = harness.script(
        "messages: [{calls: [{tool: tool.structured}]}, {calls: [{tool: tool.look, "
        "arguments: {text: again}}]}, {say: done}]"
    )
    done = harness.run("run", "--script", script, "--json")
    failed, looked = [line for line in lines(done.stdout) if line["type"] in ("error", "result")]
    assert failed["category"] == "execution_failed"
    assert said in failed["message"]
    assert looked["type"] == "result"


@pytest.mark.req("K35", "P25", "K14")
def test_a_call_without_end_is_cancelled_at_its_deadline(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(harness.state))
    configured(harness)
    done = harness.run("call", "tool.slow", "--timeout", "1", "--json")
    assert lines(done.stdout)[-1]["category"] == "timeout"
    cancelled = harness.state / "cancelled"
    eventually(cancelled.exists, "the server was told to cancel")


@pytest.mark.req("K35", "K15", "P15")
def test_its_crash_is_a_crash_of_the_provider_which_starts_anew(harness: Harness) -> None:
    configured(harness)
    script = harness.script(
        "messages: [{calls: [{tool: tool.crash}]}, {calls: [{tool: tool.look, "
        "arguments: {text: again}}]}, {say: done}]"
    )
    done = harness.run("run", "--script", script, "--json")
    crashed, looked = [line for line in lines(done.stdout) if line["type"] in ("error", "result")]
    assert crashed["category"] == "process_crashed"
    assert "out of memory" in crashed["message"]
    assert "again" in looked["payload"]["content"][0]["text"]


@pytest.mark.req("K35", "K15", "P15")
def test_a_line_without_end_ends_the_server_and_fills_no_memory(harness: Harness) -> None:
    configured(harness)
    said = call(harness, "flood", "--timeout", "60")
    assert said["category"] == "process_crashed"
    assert "wrote a line of more than 33,554,432 bytes" in said["message"]


@pytest.mark.req("K35", "F4")
def test_a_tool_that_changes_while_it_runs_is_not_called_any_more(harness: Harness) -> None:
    configured(harness)
    script = harness.script(
        """
messages:
  - calls: [{tool: tool.change}]
  - calls: [{tool: tool.environment}]
  - calls:
      - {tool: tool.look, arguments: {text: x}}
      - {tool: tool.put, arguments: {text: x}}
  - say: done
"""
    )
    done = harness.run("run", "--script", script, "--json", "--allow-all")
    said = [line for line in lines(done.stdout) if line["type"] in ("error", "result")]
    assert [line["type"] for line in said] == ["result", "result", "error", "error"]
    assert "has changed this tool since it was accepted" in said[2]["message"]
    assert "has withdrawn this tool" in said[3]["message"]


@pytest.mark.req("K35", "F4")
def test_the_lock_file_pins_its_operations(harness: Harness) -> None:
    configured(harness)
    assert harness.run("tools").returncode == 0
    lock = (harness.project / ".agent/agent.lock.hcl").read_text()
    assert f'operation "{DESTROY}"' in lock
    configured(harness, 'operation "put" {\n  risk = "low"\n}')
    changed = harness.run("tools")
    assert changed.returncode == 2
    assert 'put: risk was "moderate", is "low"' in changed.stderr
    assert "harness config accept" in changed.stderr
    assert harness.run("config", "accept").returncode == 0
    assert harness.run("tools").returncode == 0


@pytest.mark.req("K35", "K4", "K6")
def test_policy_speaks_of_its_operations_as_of_any(harness: Harness) -> None:
    rule = 'policy "put" {\n  match = { tool_name = "put" }\n  action = "deny"\n  reason = "no"\n}'
    configured(harness, rules=rule)
    denied = call(harness, "put", text="x")
    assert denied["category"] == "permission_denied"
    assert payload(harness, "look", text="x")


@pytest.mark.req("K35", "F1")
def test_an_override_of_no_operation_names_the_nearest(harness: Harness) -> None:
    configured(harness, 'operation "putt" {\n  risk = "low"\n}')
    told = harness.run("tools")
    assert told.returncode == 2
    assert "put" in told.stderr


@pytest.mark.req("K35", "K15")
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ({"dies": True}, "cannot open the database"),
        ({"endless": True}, "without an end"),
        ({"hang": True}, "did not say what it offers within 8 s"),
        ({"silent": True}, "did not say what it offers within 8 s"),
    ],
    ids=str,
)
def test_a_server_that_does_not_start_is_told_and_leaves_nothing(
    harness: Harness, behaviour: dict[str, Any], said: str
) -> None:
    configured(harness, **behaviour, mark=str(harness.project))
    told = harness.run("tools")
    assert told.returncode == 2
    assert said in told.stderr
    eventually(lambda: not with_word(str(harness.project)), "no server is left")


@pytest.mark.req("K35", "K16")
def test_a_server_ends_with_its_kernel_even_when_that_is_killed(harness: Harness) -> None:
    configured(harness, mark=str(harness.project))
    running = harness.start("call", "tool.slow", "--json")
    assert running.stdout is not None
    progress = json.loads(running.stdout.readline())
    assert (progress["message"], progress["fraction_complete"]) == ("a quarter", 0.25)
    servers = {pid for pid in with_word(SERVER) if pid in with_word(str(harness.project))}
    assert servers
    os.kill(running.pid, signal.SIGKILL)
    eventually(lambda: not any(map(alive, servers)), "the server is gone")


@pytest.mark.req("K35", "P33")
def test_a_bridge_keeps_the_contract(harness: Harness) -> None:
    described = json.dumps({"name": "tool", "command": [sys.executable, SERVER, '{"tame": 1}']})
    bridge = (sys.executable, "-I", "-m", "pluggableharness.bridges.inward", described)
    checked = harness.run("check", "--json", "--", *bridge)
    report = json.loads(checked.stdout)
    assert checked.returncode == 0, report


@pytest.fixture
def http_server() -> Iterator[int]:
    """The port of a server that wants the token `sesame`."""
    with subprocess.Popen(
        [sys.executable, HTTP_SERVER, "sesame"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def reached(harness: Harness, port: int) -> None:
    (harness.project / "agent.hcl").write_text(
        'required_providers {\n  tool = { source = "mcp", version = ">= 2.5", token = env("WORD"), '
        f'address = "http://127.0.0.1:{port}/mcp" }}\n}}\n'
    )


@pytest.mark.req("K35", "F3", "F6")
def test_a_server_at_an_address_is_a_provider_like_any(
    harness: Harness, http_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "sesame")
    reached(harness, http_server)
    there = tools(harness)
    assert there["forecast"]["kind"] == "data_source"
    assert there["count"]["risk"] == "high"
    found = payload(harness, "forecast", place="Oslo", days=2)
    assert found["structured"] == {"place": "Oslo", "days": "2"}
    done = harness.run("call", "tool.count", "to=3", "--json")
    *progress, ended = lines(done.stdout)
    assert [line["message"] for line in progress] == ["at 1", "at 2", "at 3"]
    assert ended["payload"]["content"][0]["text"] == "counted"
    wrong = call(harness, "forecast", place="Oslo", days=1.5)
    assert wrong["category"] == "invalid_arguments"
    shown = harness.run("config", "show").stdout
    assert 'token = env("WORD")' in shown
    assert "sesame" not in shown


@pytest.mark.req("P31", "K35")
def test_a_server_that_repeats_its_token_tells_it_to_nobody(
    harness: Harness, http_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "sesame")
    reached(harness, http_server)
    done = harness.run("call", "tool.credentials", "--json")
    assert "you are [secret]" in done.stdout
    assert "sesame" not in done.stdout + done.stderr


@pytest.mark.req("K35", "F6")
def test_a_server_that_refuses_the_token_or_is_not_there_is_told(
    harness: Harness, http_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "hunter2-wrong")
    reached(harness, http_server)
    refused = harness.run("tools")
    assert refused.returncode == 2
    assert "the MCP server cannot be had" in refused.stderr
    assert "hunter2" not in refused.stderr
    reached(harness, 1)
    assert "the MCP server cannot be had" in harness.run("tools").stderr
