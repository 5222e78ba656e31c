"""Sessions that nobody watches: what would be asked is denied, whatever the input is."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from process.harness import HARNESS, Harness, lines

pytestmark = pytest.mark.providers("exec", "user")

SCRIPT = """
messages:
  - calls:
      - {id: who, tool: user.ask_user, arguments: {question: "Shall I?"}}
      - {id: run, tool: exec.bash, arguments: {command: touch ran}}
  - say: "who: ${who.error.message} run: ${run.error.message}"
"""


@contextmanager
def never_closing() -> Iterator[int]:
    """The reading end of a pipe that somebody keeps open and never writes to."""
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.req("K10", "C21")
@pytest.mark.parametrize("stdin", ["an open pipe", "/dev/null", "closed"])
def test_a_question_that_nobody_can_answer_is_a_no_at_once_and_says_how_to_allow_it(
    harness: Harness, stdin: str
) -> None:
    """Case agent-user-task-04."""
    script = harness.script(SCRIPT)
    closing = "exec <&-; " if stdin == "closed" else ""
    words = ["sh", "-c", f'{closing}exec "$@"', "sh", *HARNESS, "run", "--script", script, "--json"]
    with never_closing() as pipe:
        ran = subprocess.run(
            words,
            cwd=harness.project,
            env=harness.environment,
            stdin=pipe if stdin == "an open pipe" else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert ran.returncode == 3, ran.stderr
    said = lines(ran.stdout)[-1]["final_text"]
    assert "who: user.ask_user: no person is here to answer" in said
    assert "nobody is here to ask. To allow it" in said
    assert 'policy "allow-exec-bash-' in said
    assert "arguments.command ==" in said
    assert not Path(harness.project, "ran").exists()
