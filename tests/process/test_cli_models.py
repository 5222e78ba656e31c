"""`harness run` with models that are reached over HTTP, from the command line to the record."""

import subprocess
from collections.abc import Mapping

import pytest
from model_server import Call, ModelServer, Reply
from process.harness import HARNESS, Harness, lines


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
    assert first["messages"] == [{"role": "user", "content": "what is in it?"}]
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert "filesystem__read_file" in names
    asked, answered = second["messages"][1:]
    assert asked["tool_calls"][0]["id"] == answered["tool_call_id"] == "look"
    assert "1|hello" in answered["content"]


@pytest.mark.req("F10", "K36")
def test_the_profile_names_the_model_and_where_it_is(harness: Harness) -> None:
    with ModelServer([Reply("Done.")]) as server:
        (harness.project / "agent.hcl").write_text(f"""\
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
""")
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
        (("go", "--model", "anthropic"), "write PROVIDER:ID"),
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
