"""A plan of five items, each decided in another way, as a person sees it; recorded in docs/.

`make recordings` writes the recording anew; here it is compared, so that it cannot drift from what
the program does.
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plan-of-five"
RECORDING = ROOT / "docs" / "recordings" / "plan-of-five.txt"
EDIT = "command=rm -rf build dist"
REASON = "nothing from the network runs here"
BOUND_S = 60
HEAD = """\
A plan of five, recorded from the program by `make recordings`: a scripted model asks for five
changes in one message. Two are allowed by the rules of agent.hcl, one is edited, one is denied with
a reason, and one is answered "always". Then the rule that this wrote, and a session the day after.
Ids, places and times are those of no real run.
"""


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is not so long that a terminal breaks it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@dataclass
class Shell:
    """Runs commands in a terminal, one after another, and keeps what a person would have seen."""

    project: Path
    state: Path
    seen: str = ""

    def run(self, shown: str, *command: str, answers: Callable[[pexpect.spawn], None]) -> None:
        terminal = pexpect.spawn(
            command[0],
            list(command[1:]),
            cwd=str(self.project),
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.state),
                "TMPDIR": str(self.state),
                "XDG_STATE_HOME": str(self.state / "state"),
                "TERM": "dumb",
                "LANG": "C.UTF-8",
            },
            encoding="utf-8",
            timeout=BOUND_S,
            dimensions=(50, 100),
        )
        terminal.delaybeforesend = None
        said: list[str] = []
        terminal.logfile_read = Collecting(said)
        try:
            answers(terminal)
            terminal.expect(pexpect.EOF)
        finally:
            terminal.close(force=True)
        self.seen += f"$ {shown}\n{''.join(said)}\n"

    def harness(
        self, *words: str, answers: Callable[[pexpect.spawn], None] = lambda terminal: None
    ) -> None:
        program = (sys.executable, "-m", "pluggableharness.cli")
        self.run(f"harness {' '.join(words)}", *program, *words, answers=answers)


class Collecting:
    """As much of a file as pexpect writes to."""

    def __init__(self, said: list[str]) -> None:
        self._said = said

    def write(self, text: str) -> None:
        self._said.append(text)

    def flush(self) -> None:
        """Nothing is held back."""


def told(seen: str, project: Path) -> str:
    """What was seen, without what differs from run to run and from machine to machine."""
    text = seen.replace("\r\n", "\n").replace(str(project), "/home/ada/cents")
    text = re.sub(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", "01M7ZC2V8GK5QX4T9R3WYE6HDN", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "5f1c0e9a…", text)
    text = re.sub(r" · \d+(\.\d+)? (ms|s)\b", "", text)
    text = re.sub(r"\bin \d+(\.\d+)? ?(ms|s)\b", "in a moment", text)
    text = re.sub(r"(at most \d+ s), .*(\n│ network\))?", r"\1, sandboxed", text)
    # Whether a terminal echoes what is typed the moment that it asks is chance.
    text = re.sub(r"(JSON; Return to go back >).*", rf"\1 {EDIT}", text)
    text = re.sub(r"(Return for no reason\) >).*", rf"\1 {REASON}", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def steady(seen: str) -> list[str]:
    """The lines whose order and form no machine's speed decides.

    What is allowed runs beside the questions, and a call that takes half a second is announced
    before its line.
    """
    lines = (line for line in seen.splitlines() if not line.startswith("▸"))
    ends = (" ".join(line.split()[:2]) if line.startswith("✓") else line for line in lines)
    return sorted(line for line in ends if line)


def decide(terminal: pexpect.spawn) -> None:
    """Edit the first, deny the second with a reason, allow the third always, and the edit once.

    What was edited comes back behind those that waited.
    """
    terminal.expect_exact("src/cache")
    terminal.expect_exact("help > ")
    terminal.send("e")
    terminal.expect_exact("> ")
    terminal.send(f"{EDIT}\r")
    terminal.expect_exact("publish.sh")
    terminal.expect_exact("help > ")
    terminal.send("d")
    terminal.expect_exact("why?")
    terminal.send(f"{REASON}\r")
    terminal.expect_exact("make check")
    terminal.expect_exact("help > ")
    terminal.send("k")
    terminal.expect_exact("> ")
    terminal.send("1")
    terminal.expect_exact("to go back > ")
    terminal.send("y")
    terminal.expect_exact("asked again")
    terminal.expect_exact("help > ")
    terminal.send("a")
    terminal.expect_exact("completed")


@pytest.mark.req("K10", "K9", "K32", "K7")
def test_a_plan_of_five_is_decided_told_and_remembered_as_it_is_recorded(
    tmp_path: Path, short: Path
) -> None:
    project, state = short / "cents", tmp_path / "state"
    shutil.copytree(EXAMPLE / "project", project)
    state.mkdir()
    for folder in ("build", "dist", "src/cache"):
        (project / folder).mkdir()
    for script in ("session.yaml", "again.yaml"):
        shutil.copy(EXAMPLE / script, project)
    shell = Shell(project, state)
    shell.run("cat agent.hcl", "cat", "agent.hcl", answers=lambda terminal: None)
    shell.harness("run", "--script", "session.yaml", answers=decide)
    shell.run("cat .agent/granted.hcl", "cat", ".agent/granted.hcl", answers=lambda terminal: None)
    shell.harness("run", "--script", "again.yaml")

    assert [(project / one).exists() for one in ("build", "dist", "src/cache")] == [
        False,
        False,
        True,
    ], "what ran is what the person made of the call"
    assert "## 1.4" in (project / "CHANGELOG.md").read_text()
    again = shell.seen[shell.seen.index("again.yaml") :]
    assert "OK" in again
    assert "asked:" not in again
    seen = f"{HEAD}\n{told(shell.seen, project)}"
    if os.environ.get("RECORD"):
        RECORDING.write_text(seen, encoding="utf-8")
    assert steady(seen) == steady(RECORDING.read_text(encoding="utf-8"))
