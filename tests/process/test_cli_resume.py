"""`harness sessions resume`: a killed kernel's session goes on in a new one."""

import os
import signal
from dataclasses import replace
from typing import Any

import pytest
from process.harness import Harness, lines
from process_tree import eventually, seconds, with_word

pytestmark = pytest.mark.providers("exec", "filesystem")

SLEEPS = """
prompt: Do it
messages:
  - calls:
      - {id: file, tool: filesystem.write_file, arguments: {path: done.txt, content: whole}}
      - {id: wait, tool: exec.bash, arguments: {command: "echo x >> ran; sleep WHILE"}}
      - {id: after, tool: filesystem.read_file, arguments: {path: done.txt}}
  - say: "file: ${file.path} wait: ${wait.error.category} after: ${after.error.category}"
""".replace("WHILE", seconds(331))


def killed(harness: Harness) -> str:
    """A session whose kernel died while a command ran; its id."""
    script = harness.script(SLEEPS)
    running = harness.start("run", "--script", script, "--allow-all", "--json")
    eventually(lambda: (harness.project / "ran").exists(), "the command runs")
    running.kill()
    running.communicate(timeout=30)
    eventually(lambda: not with_word(seconds(331)), "the command is gone")
    return harness.logs()[-1].stem


def told(output: str, kind: str) -> list[dict[str, Any]]:
    return [line for line in lines(output) if line["type"] == kind]


@pytest.mark.req("K27", "K30")
def test_after_a_kill_the_model_reads_of_each_call_what_is_known(harness: Harness) -> None:
    """Case session-log-03."""
    session = killed(harness)
    listed = lines(harness.run("sessions", "list", "--json").stdout)
    assert [one["status"] for one in listed] == ["interrupted"]
    words = ("sessions", "resume", session, "--script", str(harness.state / "script.yaml"))
    done = harness.run(*words, "--allow-all", "--json")
    assert done.returncode == 0, done.stderr
    (said,) = told(done.stdout, "message")
    assert said["text"].endswith("wait: unknown after: cancelled")
    assert (harness.project / "ran").read_text() == "x\n", "it did not run again"
    verified = harness.run(
        "sessions", "verify", session, "--head", told(done.stdout, "session_ended")[0]["log_head"]
    )
    assert verified.returncode == 0, verified.stderr
    assert harness.run("sessions", "show", session).returncode == 0


@pytest.mark.req("K30")
def test_a_completed_session_takes_a_new_prompt(harness: Harness) -> None:
    first = harness.script("messages: [{say: first answer}]")
    assert harness.run("run", "--script", first).returncode == 0
    session = harness.logs()[-1].stem
    second = harness.script("messages: [{say: second answer}]")
    done = harness.run("sessions", "resume", session, "And now?", "--script", second)
    assert done.returncode == 0, done.stderr
    assert "second answer" in done.stdout
    shown = harness.run("sessions", "show", session).stdout
    assert shown.index("first answer") < shown.index("> And now?") < shown.index("second answer")
    assert len(harness.logs()) == 1


@pytest.mark.req("K30")
def test_a_session_whose_folder_is_gone_says_which_one_and_is_still_to_be_read(
    harness: Harness,
) -> None:
    script = harness.script("messages: [{say: an answer}]")
    assert harness.run("run", "--script", script).returncode == 0
    session = harness.logs()[-1].stem
    moved = replace(harness, project=harness.project.rename(harness.state / "moved"))
    done = moved.run("sessions", "resume", session, "And now?", "--script", script)
    assert done.returncode == 2
    assert f"worked in '{harness.project}', which is gone" in done.stderr
    assert "an answer" in moved.run("sessions", "show", session).stdout


@pytest.mark.req("K33", "K30")
def test_the_exit_code_of_a_resume_says_what_was_denied_in_it_and_not_before(
    harness: Harness,
) -> None:
    arguments = "{path: new.txt, content: x}"
    write = f"{{calls: [{{id: w, tool: filesystem.write_file, arguments: {arguments}}}]}}"
    writes = harness.script(f"messages: [{write}, {{say: denied}}]")
    assert harness.run("run", "--script", writes).returncode == 3
    resume = ("sessions", "resume", harness.logs()[-1].stem, "Go on", "--script", writes)
    done = harness.run(*resume, "--allow-all")
    assert done.returncode == 0, done.stderr
    assert harness.run(*resume).returncode == 3


@pytest.mark.req("K27", "R10")
def test_a_session_that_runs_elsewhere_is_not_resumed(harness: Harness) -> None:
    script = harness.script(SLEEPS)
    running = harness.start("run", "--script", script, "--allow-all", "--json")
    eventually(lambda: (harness.project / "ran").exists(), "the command runs")
    session = harness.logs()[-1].stem
    refused = harness.run("sessions", "resume", session, "--script", script)
    assert refused.returncode == 1
    assert str(running.pid) in refused.stderr
    os.kill(running.pid, signal.SIGINT)
    running.communicate(timeout=30)
    done = harness.run("sessions", "resume", session, "--script", script, "--json")
    assert done.returncode == 0, done.stderr
    assert told(done.stdout, "message")[0]["text"].endswith("wait: cancelled after: cancelled")
