"""A command too long for a question: nothing of it is hidden without a word (K10, K32)."""

import sys
from collections.abc import Iterator

import pexpect
import pytest
from process.harness import Harness

pytestmark = pytest.mark.providers("exec")

HIDING = "echo ok" + "\\n" * 200 + "rm -rf kept"
BOUND_S = 60


@pytest.fixture
def terminal(harness: Harness) -> Iterator[pexpect.spawn]:
    (harness.project / "kept").mkdir()
    script = harness.script(
        "prompt: go\nmessages:\n  - calls:\n"
        f'      - {{tool: exec.bash, arguments: {{command: "{HIDING}"}}}}\n  - say: done\n'
    )
    words = ["-m", "pluggableharness.cli", "run", "--script", script]
    started = pexpect.spawn(
        sys.executable,
        words,
        cwd=str(harness.project),
        env={**harness.environment, "TERM": "dumb"},
        encoding="utf-8",
        timeout=BOUND_S,
        dimensions=(40, 100),
    )
    started.delaybeforesend = None
    yield started
    started.close(force=True)


@pytest.mark.req("K10", "K32")
def test_a_hidden_middle_is_counted_the_end_is_shown_and_all_of_it_on_request(
    terminal: pexpect.spawn, harness: Harness
) -> None:
    """The harmful part stands below two hundred line ends."""
    terminal.expect_exact("echo ok")
    terminal.expect(r"\[(\d+) lines hidden, \d+ characters\]")
    assert int(terminal.match[1]) > 100
    terminal.expect_exact("201  rm -rf kept")
    terminal.expect_exact("v show all")
    terminal.expect_exact("help > ")
    terminal.send("v")
    terminal.expect_exact("everything:")
    terminal.expect_exact("201  rm -rf kept")
    assert "hidden" not in str(terminal.before)
    terminal.expect_exact("help > ")
    terminal.send("d")
    terminal.expect_exact("why?")
    terminal.send("it removes what is to be kept\r")
    terminal.expect_exact("completed")
    terminal.expect(pexpect.EOF)
    assert (harness.project / "kept").is_dir()
