"""Every survival run at a size of seconds; `make survive` is the same at full size."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("run", "done"),
    [
        pytest.param("R1=5", "killed a provider in mid-call 5 times", marks=pytest.mark.req("R1")),
        pytest.param("R2=7", "killed a busy kernel 7 times", marks=pytest.mark.req("R2", "K16")),
        pytest.param("R3=400", "tried 400 times to get out of", marks=pytest.mark.req("R3", "C1")),
        pytest.param("R9=2", "kept 50 sessions", marks=pytest.mark.req("R9", "K22")),
        pytest.param("R10=12", "brought 12 mishaps about", marks=pytest.mark.req("R10")),
        pytest.param("R4=500", "tried 500 ways to a forbidden", marks=pytest.mark.req("R4", "C16")),
        pytest.param("R5=1000", "heard 1000 random streams out", marks=pytest.mark.req("R5")),
        pytest.param("R6=2", "kept secrets through 2", marks=pytest.mark.req("R6", "F6", "P31")),
        pytest.param("R7=14", "ran 14 commands without end", marks=pytest.mark.req("R7", "C11")),
        pytest.param("R8=49", "tried 49 times to get out", marks=pytest.mark.req("R8", "C14")),
    ],
)
def test_what_must_hold_holds_and_nothing_is_left(run: str, done: str) -> None:
    command = [sys.executable, "-m", "bench.survive", run]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert done in ended.stdout and ended.stdout.endswith("left: nothing\n")
