"""A reader that stops reading: whatever stands still for it, signals still end the harness."""

import fcntl
import signal
import subprocess
import sys
import termios

import pytest
from process.harness import BOUND_S, HARNESS, Harness
from process_tree import eventually, seconds, with_word

pytestmark = pytest.mark.providers("exec")

FLOOD = f"yes | head -c 3000000; sleep {seconds(318)}"
SCRIPT = f"messages: [{{calls: [{{tool: exec.bash, arguments: {{command: '{FLOOD}'}}}}]}}]"
ENDLESS = """
from pathlib import Path

from pluggableharness.sdk import Context, Provider

provider = Provider("flood")


@provider.data_source(streaming=True, default_timeout=3)
async def flood(ctx: Context[None]) -> dict[str, str]:
    \"\"\"Write without end.\"\"\"
    try:
        while True:
            await ctx.output(b"0123456789\\n" * 5000)
    finally:
        Path(ctx.working_directory, "ended").touch()


provider.serve()
"""
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


@pytest.mark.req("K14", "P14", "K33")
@pytest.mark.parametrize("way", ["call", "call --json", "run", "run --json"])
def test_a_deadline_holds_while_nobody_reads_and_the_reader_gets_all_of_it_in_the_end(
    harness: Harness, way: str
) -> None:
    (harness.project / "flood.py").write_text(ENDLESS)
    source = f'source = ["{sys.executable}", "{harness.project}/flood.py"]'
    (harness.project / "agent.hcl").write_text(
        f"required_providers {{\n  flood = {{ {source} }}\n}}\n"
    )
    script = "messages: [{calls: [{tool: flood.flood, arguments: {}}]}, {say: Done.}]"
    words = ["flood.flood"] if way.startswith("call") else ["--script", harness.script(script)]
    running = harness.start(*way.split(), *words)
    eventually((harness.project / "ended").exists, "the function was cancelled")
    assert running.poll() is None
    said, errors = running.communicate(timeout=BOUND_S)
    assert running.returncode == (1 if way.startswith("call") else 0), errors
    assert "cancelled at its deadline of 3 s" in (errors if way == "call" else said)
    assert len(said) > _PIPE
    if way.startswith("run"):
        assert "Done." in said
