"""An interrupt before there is anything to end: the promised exit code, and nothing printed."""

import subprocess
import sys

import pytest
from process.harness import Harness

PROGRAM = """
import os, runpy, signal, sys

interrupted, *sys.argv = sys.argv[1:]

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
runpy.run_module("pluggableharness.cli", run_name="__main__")
"""


@pytest.mark.req("K33", "K17")
@pytest.mark.parametrize(
    "imported", ["pluggableharness.cli.main", "pluggableharness.cli.tools", "asyncio"]
)
def test_an_interrupt_while_the_command_is_loaded_ends_it_without_a_word(
    harness: Harness, imported: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, imported, "harness", "tools"],
        cwd=harness.project,
        env=harness.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
