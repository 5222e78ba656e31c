"""What surrounds a command is not as it should be: a sentence and the promised exit code (K33)."""

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from model_server import ModelServer, Reply
from process.harness import HARNESS, Harness

pytestmark = pytest.mark.providers("filesystem")

CALL = ["call", "filesystem.read_file", "path=note.txt"]
SCRIPT = "prompt: go\nmessages:\n  - say: done\n"


def shell(harness: Harness, line: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a line of sh in the project; `"$@"` in it is the command with these words."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *HARNESS, *words],
        cwd=harness.project,
        env=harness.environment,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def told_in_one_sentence(done: subprocess.CompletedProcess[str], words: str, code: int) -> None:
    assert done.returncode == code, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("harness")]
    assert len(said) == 1, done.stderr
    assert words in said[0]
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.fixture
def noted(harness: Harness) -> Harness:
    (harness.project / "note.txt").write_text("hello\n")
    return harness


def commands(harness: Harness) -> dict[str, list[str]]:
    script = harness.script(SCRIPT)
    return {
        "call": CALL,
        "call --json": [*CALL, "--json"],
        "run": ["run", "--script", script],
        "run --json": ["run", "--script", script, "--json"],
        "tools": ["tools"],
        "tools --json": ["tools", "--json"],
        "config show": ["config", "show"],
        "--help": ["--help"],
        "run --help": ["run", "--help"],
        "sessions list": ["sessions", "list"],
        "sessions show": ["sessions", "show", "01K"],
    }


WAYS = ["call", "call --json", "run", "run --json", "tools", "tools --json"]


@pytest.mark.req("K33")
@pytest.mark.parametrize("way", [*WAYS, "--help", "run --help"])
def test_output_that_a_full_disk_does_not_take_is_a_failure(noted: Harness, way: str) -> None:
    done = shell(noted, '"$@" >/dev/full', *commands(noted)[way])
    told_in_one_sentence(done, "the output could not be written: No space left", 1)


@pytest.mark.req("K33")
@pytest.mark.parametrize("way", WAYS)
def test_a_closed_output_is_told_before_anything_is_done(noted: Harness, way: str) -> None:
    done = shell(noted, '"$@" >&-', *commands(noted)[way])
    told_in_one_sentence(done, "standard output is closed", 1)
    assert noted.logs() == []


@pytest.mark.req("K33")
def test_closed_input_and_errors_are_as_empty_ones(noted: Harness) -> None:
    done = shell(noted, '"$@" <&- 2>&-', *CALL)
    assert done.returncode == 0
    assert "hello" in done.stdout


@pytest.mark.req("K33")
@pytest.mark.parametrize("way", ["call", "tools", "run"])
def test_a_reader_that_has_gone_is_no_complaint(noted: Harness, way: str) -> None:
    done = shell(noted, '"$@" | true', *commands(noted)[way])
    assert "harness: " not in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.req("K33")
@pytest.mark.parametrize("way", ["call", "run", "tools"])
def test_a_directory_that_is_gone_is_told(noted: Harness, way: str) -> None:
    line = 'mkdir gone && cd gone && rmdir ../gone && "$@"'
    told_in_one_sentence(shell(noted, line, *commands(noted)[way]), "is gone; change to one", 2)


PLACES = {
    "no home": "unset HOME XDG_STATE_HOME",
    "no directory": "XDG_STATE_HOME=/dev/null",
    "a file in the way": "mkdir -p s/pluggableharness && : >s/pluggableharness/sessions; "
    'XDG_STATE_HOME="$PWD/s"',
}


@pytest.mark.req("K33", "K27")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("way", ["call", "run --json"])
def test_without_a_place_for_its_record_nothing_starts(
    noted: Harness, way: str, place: str
) -> None:
    done = shell(noted, f'{place}; export XDG_STATE_HOME; "$@"', *commands(noted)[way])
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("harness: ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.req("K33")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("way", ["sessions list", "sessions show"])
def test_records_without_a_place_are_told_with_what_to_do(
    noted: Harness, way: str, place: str
) -> None:
    done = shell(noted, f'{place}; export XDG_STATE_HOME; "$@"', *commands(noted)[way])
    told_in_one_sentence(done, "XDG_STATE_HOME to a directory", 2)
    assert "Errno" not in done.stderr


@pytest.mark.req("K33", "K14")
@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "1e999", "-0.0", "soon", "1e9"])
def test_a_time_that_is_none_is_refused_before_anything_is_done(noted: Harness, given: str) -> None:
    done = noted.run(*CALL, f"--timeout={given}")
    assert done.returncode == 2
    assert "more than 0 and at most" in done.stderr
    assert noted.logs() == []


@pytest.mark.req("K35", "K33")
@pytest.mark.parametrize("source", ["/dev/null", "note.txt"])
def test_a_file_is_no_mcp_client(noted: Harness, source: str) -> None:
    done = shell(noted, f'"$@" <{shlex.quote(source)}', "mcp")
    told_in_one_sentence(done, "speaks to an MCP client over a pipe", 2)


@pytest.mark.req("P8")
@pytest.mark.parametrize("depth", [40, 150, 500, 5_000])
@pytest.mark.parametrize("as_args", [False, True])
@pytest.mark.providers("task")
def test_arguments_that_are_nested_without_end_are_refused(
    harness: Harness, depth: int, as_args: bool
) -> None:
    nested = "[" * depth + "]" * depth
    words = ["--args", f'{{"depends_on": {nested}}}'] if as_args else [f"depends_on={nested}"]
    done = harness.run("call", "task.task_create", *words)
    assert done.returncode == 1, done.stderr
    assert "invalid_arguments" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.req("F10", "K33")
@pytest.mark.parametrize(
    ("variable", "value"),
    [("OPENAI_API_KEY", "a-secret\n"), ("OPENAI_BASE_URL", "localhost:1/v1")],
)
def test_a_key_or_address_that_is_none_starts_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv(variable, value)
    done = harness.run("run", "hi", "--model", "openai-compatible:any", "--json")
    told_in_one_sentence(done, variable, 2)
    assert "a-secret" not in done.stderr
    assert harness.logs() == []


@pytest.mark.req("K33")
def test_what_libraries_warn_of_is_kept_from_the_user(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Reply(text="fine", usage=("many", 2.5))  # type: ignore[arg-type]
    monkeypatch.setattr("model_server.chat_events", _with_figures)
    with ModelServer([odd]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = harness.run("run", "hi", "--model", "openai-compatible:any", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def _with_figures(reply: Reply) -> list[dict[str, object]]:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "any"}
    text = {"index": 0, "delta": {"content": reply.text}, "finish_reason": "stop"}
    used = {"prompt_tokens": "many", "completion_tokens": 2.5, "total_tokens": None}
    return [{**base, "choices": [text]}, {**base, "choices": [], "usage": used}]


@pytest.mark.req("K33")
def test_commands_that_need_no_record_run_where_none_can_be(noted: Harness, tmp_path: Path) -> None:
    done = shell(noted, 'export XDG_STATE_HOME=/dev/null; "$@"', "tools")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("tools",), ("call", "filesystem.read_file", "path=a.txt")])
def test_a_folder_whose_path_providers_cannot_be_told_is_refused_by_name(
    harness: Harness, words: tuple[str, ...]
) -> None:
    """Otherwise each call would fail as if its arguments were wrong."""
    folder = harness.project / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    done = replace(harness, project=folder).run(*words)
    assert done.returncode == 2
    assert "caf\\udce9' has bytes in its path that are no UTF-8" in done.stderr
    assert "Traceback" not in done.stderr
