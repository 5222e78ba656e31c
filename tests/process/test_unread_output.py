"""A reader that stops reading: whatever stands still for it, signals still end the harness."""

import fcntl
import signal
import subprocess
import termios

import pytest
from process.harness import HARNESS, Harness
from process_tree import eventually, seconds, with_word

pytestmark = pytest.mark.providers("exec")

FLOOD = f"yes | head -c 3000000; sleep {seconds(318)}"
SCRIPT = f"messages: [{{calls: [{{tool: exec.bash, arguments: {{command: '{FLOOD}'}}}}]}}]"
_PIPE = 32 * 1024
"""Less than any pipe holds that nobody empties."""


def _waiting(reader: int) -> int:
    """The bytes that stand in a pipe."""
    return int.from_bytes(fcntl.ioctl(reader, termios.FIONREAD, bytes(4)), "little")


@pytest.mark.req("K17", "K33")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("way", ["call", "run", "run --json"])
def test_a_second_signal_ends_a_harness_whose_output_nobody_reads(
    harness: Harness, way: str, number: int
) -> None:
    words = (
        ["call", "exec.bash", f"command={FLOOD}"]
        if way == "call"
        else [*way.split(), "--allow-all", "--script", harness.script(SCRIPT)]
    )
    with subprocess.Popen(
        [*HARNESS, *words],
        cwd=harness.project,
        env=harness.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as running:
        assert running.stdout is not None
        reader = running.stdout.fileno()
        try:
            eventually(lambda: _waiting(reader) >= _PIPE, "the pipe is full")

            def ended() -> bool:
                # Signals that come at once may be one.
                running.send_signal(number)
                return running.poll() is not None

            eventually(ended, "it has left")
        finally:
            running.kill()
    assert running.returncode == 130
    eventually(lambda: not with_word(seconds(318)), "the command is gone")
