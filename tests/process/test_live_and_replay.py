"""What a session says of itself in the end is what its replay says: calls are counted alike."""

import re

import pexpect
import pytest
from process.harness import BOUND_S, HARNESS, Harness

pytestmark = pytest.mark.providers("exec", "task")

SCRIPT = """
messages:
  - calls:
      - {tool: task.task_list, arguments: {}}
      - {tool: exec.bash, arguments: {command: "echo begun; sleep 319.25"}}
      - {tool: exec.bash, arguments: {command: "echo never"}}
      - {tool: no.such, arguments: {}}
"""


@pytest.mark.req("K30", "K17", "K32")
@pytest.mark.parametrize(
    ("words", "reached"), [((), r"help.*> "), (("--allow-all",), r"┊ .*begun")]
)
def test_an_interrupted_session_counts_its_calls_as_its_replay_does(
    harness: Harness, words: tuple[str, ...], reached: str
) -> None:
    """Those that ran, the one that was asked about, and the one that was never begun."""
    terminal = pexpect.spawn(
        HARNESS[0],
        [*HARNESS[1:], "run", "--script", harness.script(SCRIPT), *words],
        cwd=str(harness.project),
        env={**harness.environment, "TERM": "xterm"},
        encoding="utf-8",
        timeout=BOUND_S,
        dimensions=(40, 100),
    )
    try:
        terminal.expect(reached)
        terminal.send("\x03")
        terminal.expect(r"cancelled\S* · (\d+ calls)")
        counted = terminal.match[1]
        terminal.expect(pexpect.EOF)
    finally:
        terminal.close(force=True)
    replayed = harness.run("sessions", "replay", harness.logs()[0].stem)
    found = re.search(r"^cancelled · (\d+ calls)", replayed.stdout, re.MULTILINE)
    assert found is not None, replayed.stdout
    assert (counted, found[1]) == ("4 calls", "4 calls")
