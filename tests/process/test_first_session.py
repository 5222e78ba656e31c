"""The first session, as `make run` shows it: with a person, and with nobody there."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

RUN = Path(__file__).parents[2] / "examples" / "first-session" / "run"
BOUND_S = 120


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "TERM": "dumb",
        "HARNESS": str(Path(sys.executable).with_name("harness")),
    }


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[pexpect.spawn]:
    terminal = pexpect.spawn(str(RUN), env=environment, encoding="utf-8", timeout=BOUND_S)
    terminal.delaybeforesend = None
    yield terminal
    terminal.close(force=True)


def project(output: str) -> Path:
    """Where the session's copy of the project is."""
    found = re.search(r"The project is in (\S+),", output)
    assert found, output
    return Path(found[1])


def passes(place: Path) -> bool:
    run = subprocess.run(
        ["python3", "-m", "unittest"], cwd=place, capture_output=True, timeout=BOUND_S, check=False
    )
    return run.returncode == 0


def answer(terminal: pexpect.spawn, operation: str, key: str) -> None:
    terminal.expect_exact(operation)
    terminal.expect_exact("help > ")
    terminal.send(key)


@pytest.mark.req("K36", "K13a", "K33")
def test_with_nobody_there_it_says_so_and_mends_the_bug(environment: dict[str, str]) -> None:
    run = subprocess.run(
        [RUN],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=BOUND_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("Nobody is at a terminal here")
    assert "\x1b" not in run.stdout
    assert passes(project(run.stdout))
    # The tests that stand behind the edit in the same message have seen it.
    assert run.stdout.index("FAILED (failures=2)") < run.stdout.index("Cleo pays Ada 50.43")


@pytest.mark.req("K32", "K10")
def test_a_person_allows_each_change_by_one_key(terminal: pexpect.spawn) -> None:
    answer(terminal, "exec.bash", "a")
    terminal.expect_exact("FAILED (failures=2)")
    terminal.expect_exact("plan")
    answer(terminal, "1 of 2", "a")
    answer(terminal, "2 of 2", "y")
    terminal.expect_exact("completed")
    terminal.expect(pexpect.EOF)
    assert passes(project(str(terminal.before)))
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.req("K32", "K10")
def test_what_a_person_denies_does_not_happen(terminal: pexpect.spawn) -> None:
    answer(terminal, "exec.bash", "a")
    terminal.expect_exact("FAILED (failures=2)")
    answer(terminal, "1 of 2", "d")
    terminal.expect_exact("why?")
    terminal.send("not this file\r")
    answer(terminal, "2 of 2", "\r")
    terminal.expect_exact("completed")
    terminal.expect(pexpect.EOF)
    assert not passes(project(str(terminal.before)))
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.req("K32")
def test_an_interrupt_at_a_question_ends_the_session_in_order(terminal: pexpect.spawn) -> None:
    terminal.expect_exact("help > ")
    terminal.send("\x03")
    terminal.expect_exact("no longer asked")
    terminal.expect_exact("cancelled")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus != 0
