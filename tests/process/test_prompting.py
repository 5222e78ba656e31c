"""Where a prompt comes from without a person, and the exit codes that callers rely on (K33)."""

import os
import subprocess
from collections.abc import Sequence

import pytest
from model_server import Call, ModelServer, Reply
from process.harness import HARNESS, Harness, lines

pytestmark = pytest.mark.providers("exec", "search")

MODEL = ("--model", "openai-compatible:any")


def run(
    harness: Harness, replies: Sequence[Reply], *words: str, stdin: str = ""
) -> tuple[subprocess.CompletedProcess[str], ModelServer]:
    with ModelServer(replies) as server:
        return harness.run("run", *words, stdin=stdin, **server.environment), server


@pytest.mark.req("K32", "K33")
def test_what_is_piped_in_is_the_prompt(harness: Harness) -> None:
    done, server = run(harness, [Reply("Read it.")], *MODEL, stdin="first line\nsecond line\n")
    assert done.returncode == 0, done.stderr
    assert "Read it." in done.stdout
    assert "first line\nsecond line" in str(server.requests[0]["messages"][-1]["content"])


@pytest.mark.req("K30", "K32")
def test_what_is_piped_in_goes_on_with_a_session(harness: Harness) -> None:
    assert run(harness, [Reply("One.")], "say one", *MODEL)[0].returncode == 0
    (log,) = harness.logs()
    resume = ("--resume", log.stem, *MODEL)
    done, server = run(harness, [Reply("Two.")], *resume, stdin="say two\n")
    assert done.returncode == 0, done.stderr
    assert "Two." in done.stdout
    assert "say one" in str(server.requests[0]["messages"])
    done, server = run(harness, [], *resume)
    assert (done.returncode, server.requests) == (0, [])
    assert "nothing left to do" in done.stderr


@pytest.mark.req("K33")
def test_without_prompt_and_terminal_it_says_what_to_do(harness: Harness) -> None:
    done, server = run(harness, [], *MODEL)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--script" in done.stderr and "PROMPT" in done.stderr
    assert server.requests == []
    closed = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *HARNESS, "run", *MODEL],
        cwd=harness.project,
        env=harness.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert closed.returncode == 2 and "PROMPT" in closed.stderr
    assert harness.logs() == []


CODES = [
    pytest.param(0, [Reply("Done.")], (), id="completed"),
    pytest.param(1, [Reply(status=400, error={"message": "bad"})], (), id="failed"),
    pytest.param(
        3,
        [Reply("Trying.", calls=[Call("exec.bash", {"command": "ls"})]), Reply("Denied, then.")],
        (),
        id="denied",
    ),
    pytest.param(
        4,
        [Reply("A", calls=[Call("search.glob", {"pattern": "*"})]), Reply("Had to stop.")],
        ("--profile", "short"),
        id="a bound",
    ),
]


@pytest.mark.req("K33")
@pytest.mark.parametrize(("code", "replies", "words"), CODES)
def test_the_exit_code_says_how_it_ended(
    harness: Harness, code: int, replies: list[Reply], words: tuple[str, ...]
) -> None:
    harness.configure(
        'agent_profile "default" {\n  tools = ["exec.bash", "search.glob"]\n}\n'
        'agent_profile "short" {\n  tools = ["search.glob"]\n  max_turns = 1\n}\n',
        *("exec", "search"),
    )
    done, _ = run(harness, replies, "go", "--json", *MODEL, *words)
    assert done.returncode == code, done.stderr
    told = lines(done.stdout)
    assert told[0]["type"] == "session_started" and told[0]["events_version"] == 1
    assert told[-1]["type"] == "session_ended"


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    "words",
    [
        ("run", "go", "--model", "nobody"),
        ("run", "go", "--modle", "x"),
        ("run", "go", "--script", "no.yaml"),
        ("run", "go", "--resume", "01K", "--cwd", "."),
    ],
)
def test_usage_and_configuration_are_2(harness: Harness, words: tuple[str, ...]) -> None:
    done = harness.run(*words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip()


def test_a_silent_pipe_is_given_up(harness: Harness) -> None:
    """Case agent-user-task-04; how long it waits is the caller's to say."""
    code = (
        "import asyncio, sys; from pluggableharness.cli.prompting import read_prompt\n"
        "from pluggableharness.kernel.domain.errors import UsageError\n"
        "try: asyncio.run(read_prompt(sys.stdin, 0.01))\n"
        "except UsageError as error: print(error)\n"
    )
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [HARNESS[0], "-c", code],
            stdin=reading,
            capture_output=True,
            text=True,
            env=harness.environment,
            timeout=60,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert "nothing came on standard input" in done.stdout


@pytest.mark.req("K32", "K33")
def test_what_is_piped_in_is_sent_behind_the_prompt_and_set_apart(harness: Harness) -> None:
    done, server = run(harness, [Reply("One.")], "review it", *MODEL, stdin="- a\n+ b\n")
    assert done.returncode == 0, done.stderr
    sent = str(server.requests[0]["messages"][-1]["content"])
    assert "review it\n\n<stdin>\n- a\n+ b\n</stdin>" in sent
    (log,) = harness.logs()
    done, server = run(harness, [Reply("Two.")], "and it?", "--resume", log.stem, stdin="more")
    assert done.returncode == 0, done.stderr
    sent = str(server.requests[0]["messages"][-1]["content"])
    assert "and it?\n\n<stdin>\nmore\n</stdin>" in sent
    done, server = run(harness, [Reply("Three.")], "nothing piped", *MODEL)
    assert (done.returncode, done.stderr) == (0, "")
    assert "stdin" not in str(server.requests[0]["messages"][-1]["content"])


@pytest.mark.req("K33")
def test_a_silent_pipe_does_not_hold_up_a_prompt(harness: Harness) -> None:
    reading, writing = os.pipe()
    try:
        with ModelServer([Reply("Done.")]) as server:
            done = subprocess.run(
                [*HARNESS, "run", "go", *MODEL],
                cwd=harness.project,
                env={**harness.environment, **server.environment},
                stdin=reading,
                capture_output=True,
                text=True,
                timeout=50,
            )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 0, done.stderr
    assert "only the PROMPT is sent" in done.stderr
    assert "stdin" not in str(server.requests[0]["messages"][-1]["content"])
