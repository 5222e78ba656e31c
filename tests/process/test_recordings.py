"""The recordings of docs/recordings, made again on a real terminal and compared.

`make recordings` writes them anew. What differs from run to run is written as a word.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import pexpect
import pytest
from process.harness import HARNESS, Harness
from unit.frontends.emulator import seen

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "docs" / "recordings"
COLUMNS = 80
PROJECT = "/home/project"
HASH = re.compile(r"[0-9a-f]{64}")

THREE_DIFFS = """
prompt: Rename the setting.
messages:
  - say: "The setting is read in **three** places. I rename it in all of them:"
    calls:
      - {tool: filesystem.edit_file, arguments: {path: app/settings.py,
         old_str: "    retry_limit: int = 3", new_str: "    max_retries: int = 3"}}
      - {tool: filesystem.edit_file, arguments: {path: app/client.py,
         old_str: "settings.retry_limit", new_str: "settings.max_retries"}}
      - {tool: filesystem.edit_file, arguments: {path: README.md,
         old_str: "`retry_limit`", new_str: "`max_retries`"}}
  - say: Done, as far as you allowed it.
"""

TWO_COMMANDS = """
prompt: Build both.
messages:
  - say: Both targets are independent of each other, so they build at once.
    calls:
      - {tool: ci.build, arguments: {target: server}}
      - {tool: ci.build, arguments: {target: client}}
  - say: Both are built.
"""

INTERRUPTED = """
prompt: Run the long one.
messages:
  - say: This takes a while.
    calls:
      - {tool: exec.bash, arguments: {command: "echo started; sleep 317.75"}}
  - say: Never said.
"""

FILES = {
    "app/settings.py": "class Settings:\n    retry_limit: int = 3\n    timeout_s: float = 10\n",
    "app/client.py": (
        "def fetch(settings):\n"
        "    for attempt in range(settings.retry_limit):\n"
        "        try_once(attempt)\n"
    ),
    "README.md": "# app\n\nSet `retry_limit` to try more often.\n",
}


def spawn(harness: Harness, script: str, columns: int, *words: str) -> pexpect.spawn:
    return pexpect.spawn(
        HARNESS[0],
        [*HARNESS[1:], "run", "--script", harness.script(script), *words],
        cwd=str(harness.project),
        env={**harness.environment, "TERM": "xterm"},
        encoding="utf-8",
        timeout=60,
        dimensions=(24, columns),
    )


def three_diffs(harness: Harness, columns: int) -> str:
    for name, text in FILES.items():
        path = harness.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    terminal = spawn(harness, THREE_DIFFS, columns)
    said = ""
    for key, answered in (("a", "allowed"), ("n", "why"), ("tests first\r", ""), ("a", "allowed")):
        if answered:
            terminal.expect(r"help.*> ")
            said += terminal.before + terminal.after
        terminal.send(key)
        if answered:
            terminal.expect(answered)
            said += terminal.before + terminal.after
    return said + rest_of(terminal, 3)


def fed(path: Path) -> TextIO:
    """A named pipe to write lines into; opened so that nobody waits for its reader."""
    os.mkfifo(path)
    return os.fdopen(os.open(path, os.O_RDWR), "w", buffering=1)


def two_commands(harness: Harness, columns: int) -> str:
    provider = f'{{ source = ["{sys.executable}", "{ROOT}/tests/providers/rehearsed.py"] }}'
    (harness.project / "agent.hcl").write_text(f"required_providers {{\n  ci = {provider}\n}}\n")
    terminal, said = spawn(harness, TWO_COMMANDS, columns), ""
    with (
        fed(harness.project / "server.pipe") as server,
        fed(harness.project / "client.pipe") as client,
    ):
        for step in ("parsing", "compiling", "linking"):
            for target, pipe in (("server", server), ("client", client)):
                pipe.write(f"{step}\n")
                terminal.expect(f"{target}: {step}")
                said += terminal.before + terminal.after
        server.close()
        terminal.expect("✓")
        said += terminal.before + terminal.after
    return str(said) + rest_of(terminal, 0)


def interrupted(harness: Harness, columns: int) -> str:
    terminal = spawn(harness, INTERRUPTED, columns, "--allow-all")
    terminal.expect("┊ .*started")
    said = str(terminal.before + terminal.after)
    terminal.send("\x03")
    return said + rest_of(terminal, 130)


def rest_of(terminal: pexpect.spawn, status: int) -> str:
    terminal.expect(pexpect.EOF)
    said = str(terminal.before)
    terminal.close()
    assert terminal.exitstatus == status, said
    return said


@pytest.fixture
def placed(harness: Harness) -> Iterator[Harness]:
    """The harness in a project whose path is as long as the one that is written for it."""
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as place:
        assert len(place) == len(PROJECT)
        yield Harness(Path(place), harness.state)


def normal(harness: Harness, output: str) -> str:
    """What is left on the screen, with words for what is never the same."""
    text = "\n".join(line.rstrip() for line in seen(output.replace("\r\n", "\n")))
    text = text.replace(str(harness.project), PROJECT)
    text = re.sub(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", "SESSION", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
    text = re.sub(r"[^ ]*… · (?=1 replacement)", "… · ", text)  # shorter where the time is longer
    return re.sub(r"(?<=· )\d+(\.\d+)? (ms|s)\b", "TIME", text).strip("\n") + "\n"


PLAYED = [
    ("a-plan-with-three-diffs", three_diffs),
    ("two-commands-at-once", two_commands),
    ("an-interrupt", interrupted),
]


@pytest.mark.req("K32")
@pytest.mark.parametrize(("name", "played"), PLAYED)
def test_the_recording_is_what_the_terminal_shows(
    placed: Harness, name: str, played: Callable[[Harness, int], str]
) -> None:
    shown = normal(placed, played(placed, COLUMNS))
    path = RECORDINGS / f"{name}.txt"
    if os.environ.get("RECORD"):
        path.write_text(shown)
    assert shown == path.read_text()


@pytest.mark.req("K32")
@pytest.mark.parametrize("columns", [80, 60])
def test_no_line_is_wider_than_the_terminal(placed: Harness, columns: int) -> None:
    for line in seen(three_diffs(placed, columns).replace("\r\n", "\n")):
        assert len(line) <= columns or HASH.search(line), line
