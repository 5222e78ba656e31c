"""`harness run` with models that are reached over HTTP, from the command line to the record."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from model_server import Call, ModelServer, Played, Recorded, Reply
from process.harness import HARNESS, Harness, lines

from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.store.reading import read_events, verify

pytestmark = pytest.mark.providers("exec", "filesystem", "search")

SHOW = Path(__file__).parents[2] / "examples" / "first-session"
ANY = ("--model", "openai-compatible:any")


def ran(
    harness: Harness, *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`harness run` among no other models than those of a test."""
    clean = {name: value for name, value in harness.environment.items() if "_KEY" not in name}
    return subprocess.run(
        [*HARNESS, "run", *words],
        cwd=harness.project,
        env={**clean, "OPENAI_BASE_URL": "", **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.req("K36", "K3")
def test_a_model_behind_a_compatible_endpoint_reads_a_file_and_answers(harness: Harness) -> None:
    (harness.project / "a.txt").write_text("hello\n")
    call = Call("filesystem.read_file", {"path": "a.txt"}, id="look")
    with ModelServer([Reply(["Look", "ing."], [call]), Reply("It says hello.")]) as server:
        done = ran(
            harness,
            "what is in it?",
            "--model",
            "openai-compatible:any",
            "--json",
            environment=server.environment,
        )
    assert done.returncode == 0, done.stderr
    told = lines(done.stdout)
    assert told[0]["model"] == "openai-compatible:any"
    assert [one["text"] for one in told if one["type"] == "text_delta"] == [
        "Look",
        "ing.",
        "It says hello.",
    ]
    assert told[-1]["final_text"] == "It says hello."
    first, second = server.requests
    assert first["messages"][1:] == [{"role": "user", "content": "what is in it?"}]
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert "filesystem__read_file" in names
    asked, answered = second["messages"][2:]
    assert asked["tool_calls"][0]["id"] == answered["tool_call_id"] == "look"
    assert "1|hello" in answered["content"]


@pytest.mark.req("F10", "K36")
def test_the_profile_names_the_model_and_where_it_is(harness: Harness) -> None:
    with ModelServer([Reply("Done.")]) as server:
        profile = f"""\
agent_profile "default" {{
  model {{
    primary {{
      provider = "openai-compatible"
      id       = "small"
      base_url = "{server.url}"
      key      = env("SMALL_KEY")
    }}
  }}
}}
"""
        harness.configure(profile, "filesystem")
        environment = {"SMALL_KEY": "a-secret-key", "OPENAI_API_KEY": "of-somebody-else"}
        done = ran(harness, "go", "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    assert server.requests[0]["model"] == "small"
    assert server.headers[0]["authorization"] == "Bearer a-secret-key"
    assert "a-secret-key" not in done.stdout + done.stderr
    (log,) = harness.logs()
    assert b"a-secret-key" not in log.read_bytes()


@pytest.mark.req("F10", "K36")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("go",), "no model is chosen. Say which with --model PROVIDER:ID"),
        (("go", "--model", "anthropic"), "name a model as PROVIDER:ID"),
        (("go", "--model", "antropic:x"), "one of anthropic, openai, google, openai-compatible"),
        (("go", "--model", "anthropic:x"), "Set the environment variable ANTHROPIC_API_KEY"),
        (("go", "--model", "google:x"), "GOOGLE_API_KEY or GEMINI_API_KEY"),
        (("go", "--model", "openai-compatible:x"), "OPENAI_BASE_URL"),
    ],
)
def test_a_model_that_cannot_be_had_is_an_error_that_says_what_to_do(
    harness: Harness, words: tuple[str, ...], expected: str
) -> None:
    done = ran(harness, *words)
    assert done.returncode == 2
    assert expected in done.stderr
    assert harness.logs() == []


def played(
    harness: Harness, replies: list[Played], *words: str
) -> tuple[subprocess.CompletedProcess[str], ModelServer]:
    """`harness run … --json` with a model that gives these replies."""
    with ModelServer(replies) as server:
        done = ran(harness, *words, *ANY, "--json", environment=server.environment)
    return done, server


def results(request: Mapping[str, Any]) -> list[str]:
    return [one["content"] for one in request["messages"] if one["role"] == "tool"]


def notices(output: str) -> list[str]:
    return [one["message"] for one in lines(output) if one["type"] == "notice"]


def profile(name: str, *attributes: str) -> str:
    inner = "".join(f"  {one}\n" for one in attributes)
    return f'agent_profile "{name}" {{\n{inner}}}\n'


@pytest.mark.req("K36", "K1", "K3")
def test_the_show_is_found_and_mended_by_a_model_behind_an_endpoint(harness: Harness) -> None:
    shutil.copytree(SHOW / "project", harness.project, dirs_exist_ok=True)
    script = yaml.safe_load((SHOW / "session.yaml").read_text())
    replies: list[Played] = [
        Reply(
            message["say"],
            [Call(c["tool"], c["arguments"], c["id"]) for c in message.get("calls", ())],
        )
        for message in script["messages"]
    ]
    done, server = played(harness, replies, script["prompt"], "--allow-all")
    assert done.returncode == 0, done.stderr
    code, _, before, fixed, after = results(server.requests[-1])
    assert "round(total * weight / whole)" in code
    assert "FAILED" in before
    assert '"replacements":1' in fixed
    assert "OK" in after
    tests = [sys.executable, "-m", "unittest"]
    assert subprocess.run(tests, cwd=harness.project, capture_output=True).returncode == 0
    (log,) = harness.logs()
    assert verify(log).ok


@pytest.mark.req("K21", "K30")
def test_asking_again_is_told_and_recorded(harness: Harness) -> None:
    busy = Reply(status=429, error={"message": "slow down"}, headers={"Retry-After": "0"})
    done, _ = played(harness, [busy, Reply("It went.")], "go")
    assert done.returncode == 0, done.stderr
    (told,) = [one for one in notices(done.stdout) if "asked again" in one]
    assert "was asked too much at once. It says: slow down. It is asked again in" in told
    session = lines(done.stdout)[0]["session_id"]
    replayed = harness.run("sessions", "replay", session, "--json")
    assert told in notices(replayed.stdout)


@pytest.mark.req("K21", "R6")
def test_a_bad_key_ends_the_session_and_says_what_to_check(harness: Harness) -> None:
    refused = Reply(status=401, error={"message": "no such key: a-key-of-the-tests"})
    done, server = played(harness, [refused], "go")
    assert done.returncode == 1
    end = lines(done.stdout)[-1]
    assert end["status"] == "failed"
    assert "does not accept the key in OPENAI_API_KEY" in end["reason"]
    assert "a-key-of-the-tests" not in done.stdout + done.stderr
    assert len(server.requests) == 1


@pytest.mark.req("P8", "K3", "K36")
def test_what_a_model_writes_wrong_comes_back_to_it_as_an_error(harness: Harness) -> None:
    calls = [
        Call("filesystem.read_file", raw='{"path": '),
        Call("filesystem.readfile", {"path": "a.txt"}),
    ]
    done, server = played(harness, [Reply(calls=calls), Reply("I see.")], "go")
    assert done.returncode == 0, done.stderr
    broken, unknown = results(server.requests[1])
    assert "invalid_arguments" in broken
    assert "Correct this and call again." in broken
    assert "In scope, nearest first: filesystem.read_file" in unknown


@pytest.mark.req("K20", "K36")
def test_at_a_bound_the_model_answers_once_more_without_tools(harness: Harness) -> None:
    bounded = profile("default", "max_turns = 1", 'tools = ["filesystem.*"]')
    harness.configure(bounded, "filesystem")
    (harness.project / "a.txt").write_text("hello")
    look = Reply(calls=[Call("filesystem.read_file", {"path": "a.txt"})])
    done, server = played(harness, [look, Reply("I read it.")], "go")
    assert done.returncode == 4, done.stderr
    assert lines(done.stdout)[-1]["final_text"] == "I read it."
    last = server.requests[1]
    assert last["tool_choice"] == "none"
    assert "no tool is at hand any more" in last["messages"][-1]["content"]


@pytest.mark.req("F10", "K20")
def test_a_fallback_answers_for_a_model_that_cannot_and_the_record_says_who(
    harness: Harness,
) -> None:
    refused = Reply(status=401, error={"message": "no"})
    with ModelServer([refused]) as first, ModelServer([Recorded("google-says.events")]) as second:
        profile = f"""\
agent_profile "default" {{
  model {{
    primary {{
      provider = "openai-compatible"
      id       = "small"
      base_url = "{first.url}"
    }}
    fallback {{
      provider = "google"
      id       = "gemini-2.5-pro"
      base_url = "{second.root}"
      key      = env("G_KEY")
    }}
  }}
}}
"""
        harness.configure(profile, "filesystem")
        done = ran(harness, "go", "--json", environment={"G_KEY": "the-key-of-google"})
    assert done.returncode == 0, done.stderr
    assert any("google:gemini-2.5-pro is to answer" in one for one in notices(done.stdout))
    (log,) = harness.logs()
    messages = [read_message(e.payload) for e in read_events(log) if e.kind == "message"]
    assert messages[-1].model == "google:gemini-2.5-pro"
    assert messages[-1].reply.cost_usd == pytest.approx(1.125)
    assert b"the-key-of-google" not in log.read_bytes()


@pytest.mark.req("K22", "F10")
def test_a_child_without_a_model_of_its_own_has_that_of_its_parent(harness: Harness) -> None:
    profiles = profile("default", 'tools = ["agent.*"]') + profile("helper", "depth = 0")
    harness.configure(profiles, "agent")
    spawn = Call("agent.spawn_subagent", {"profile": "helper", "prompt": "count to three"})
    replies: list[Played] = [Reply(calls=[spawn]), Reply("One, two, three."), Reply("Counted.")]
    done, server = played(harness, replies, "go", "--allow-all")
    assert done.returncode == 0, done.stderr
    child, parent = server.requests[1:]
    assert child["model"] == "any"
    assert child["messages"][1:] == [{"role": "user", "content": "count to three"}]
    assert "One, two, three." in results(parent)[0]


@pytest.mark.req("K8", "F10")
def test_a_reviewer_without_a_model_of_its_own_has_that_of_the_session(harness: Harness) -> None:
    rule = """\
policy "look" {
  match    = { tool_name = "bash" }
  action   = "review"
  reviewer = "judge"
}
"""
    profiles = profile("default", 'tools = ["exec.*"]') + profile("judge")
    harness.configure(profiles + rule, "exec")
    allow = Reply('{"decision": "allow", "reason": "harmless"}')
    bash = Reply(calls=[Call("exec.bash", {"command": "echo reviewed"})])
    done, server = played(harness, [bash, allow, Reply("Done.")], "go")
    assert done.returncode == 0, done.stderr
    assert "You judge one tool call" in server.requests[1]["messages"][0]["content"]
    assert "reviewed" in results(server.requests[2])[0]


@pytest.mark.req("K17", "K36")
def test_an_interrupt_while_the_model_speaks_ends_request_and_session(harness: Harness) -> None:
    with ModelServer([Reply(["One ", "two"], hold=True)]) as server:
        process = subprocess.Popen(
            [*HARNESS, "run", "go", *ANY, "--json"],
            cwd=harness.project,
            env={**harness.environment, **server.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        harness.started.append(process)
        assert server.held.wait(30)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
        assert server.gone.wait(30)
    assert process.returncode == 130
    assert lines(output)[-1]["status"] == "cancelled"


@pytest.mark.req("K30", "K36")
def test_a_resumed_session_goes_on_with_the_thinking_of_its_model(harness: Harness) -> None:
    thinks = Recorded(
        "chat-thinks-says-and-calls.events",
        [("toy__look", "filesystem__glob_nothing"), ("toy__list", "filesystem__none")],
    )
    done, _ = played(harness, [thinks, Reply("Then not.")], "go")
    assert done.returncode == 0, done.stderr
    session = lines(done.stdout)[0]["session_id"]
    with ModelServer([Reply("And on.")]) as server:
        words = ("sessions", "resume", session, "go on", "--model", "openai-compatible:small")
        again = harness.run(*words, "--json", **server.environment)
    assert again.returncode == 0, again.stderr
    sent = server.requests[0]["messages"]
    assert [one["role"] for one in sent] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]
    assert "reasoning_content" not in sent[1], "openai-compatible:any thought it, not :small"


@pytest.mark.req("S5", "K36")
def test_no_vendors_library_is_imported_before_its_model_is_asked() -> None:
    code = (
        "import sys, pluggableharness.cli.run, pluggableharness.cli.call\n"
        "print(sorted({'pydantic_ai', 'pydantic', 'httpx2', 'openai'} & sys.modules.keys()))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


@pytest.mark.req("R6", "P31")
def test_a_models_key_is_not_in_the_environment_of_what_it_runs(harness: Harness) -> None:
    show = Call("exec.bash", {"command": "env"})
    done, server = played(harness, [Reply(calls=[show]), Reply("Seen.")], "go", "--allow-all")
    assert done.returncode == 0, done.stderr
    (seen,) = results(server.requests[1])
    assert "PATH=" in seen
    assert "a-key-of-the-tests" not in seen


@pytest.mark.req("K21", "K27", "P16")
def test_a_message_of_more_calls_than_one_may_hold_runs_none_of_them_and_is_told(
    harness: Harness,
) -> None:
    writes = [
        Call("filesystem.write_file", {"path": f"{n}.txt", "content": ""}, id=f"use-{n}")
        for n in range(257)
    ]
    with ModelServer([Reply("I write. ", writes)]) as server:
        done = ran(harness, "go", *ANY, "--json", "--allow-all", environment=server.environment)
    assert done.returncode == 1, done.stderr
    assert len(server.requests) == 1
    assert not [*harness.project.glob("*.txt")]
    end = lines(done.stdout)[-1]
    assert (end["type"], end["status"]) == ("session_ended", "failed")
    assert "was cut off, since it sent more than 256 calls and texts" in end["reason"]
    assert end["reason"].startswith("The message broke off, and what was shown of it does not")
    (log,) = harness.logs()
    assert verify(log).ok
    assert {row.kind for row in read_events(log)} == {"session", "message"}
