"""A plan of five items, each decided in another way, as a person sees it; recorded in docs/.

`make recordings` writes the recording anew; here it is compared, so that it cannot drift from what
the program does.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.shell import Shell, steady

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plan-of-five"
RECORDING = ROOT / "docs" / "recordings" / "plan-of-five.txt"
HEAD = """\
A plan of five, recorded from the program by `make recordings`: a scripted model asks for five
changes in one message. Two are allowed by the rules of agent.hcl, one is edited, one is denied with
a reason, and one is answered "always". Then the rule that this wrote, and a session the day after.
Ids, places and times are those of no real run.
"""
ANSWERS = {
    "harness run --script session.yaml": [
        *("e", "command=rm -rf build dist", "a"),  # what was edited is asked about at once
        *("d", "nothing from the network runs here"),
        *("k", "1", "y"),
    ]
}
COMMANDS = (
    "cat agent.hcl",
    *ANSWERS,
    "cat .agent/granted.hcl",
    "harness run --script again.yaml",
)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder whose path is as long as the one that is written for it."""
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as name:
        yield Path(name)


@pytest.mark.req("K10", "K9", "K32", "K7")
def test_a_plan_of_five_is_decided_told_and_remembered_as_it_is_recorded(home: Path) -> None:
    project = home / "cents"
    shutil.copytree(EXAMPLE / "project", project)
    for folder in ("build", "dist", "src/cache"):
        (project / folder).mkdir()
    for script in ("session.yaml", "again.yaml"):
        shutil.copy(EXAMPLE / script, project)
    with Shell(home, project) as shell:
        told = {command: shell.run(command, ANSWERS.get(command, ())) for command in COMMANDS}

    there = [(project / one).exists() for one in ("build", "dist", "src/cache")]
    assert there == [False, False, True], "what ran is what the person made of the call"
    assert "## 1.4" in (project / "CHANGELOG.md").read_text()
    again = told[COMMANDS[-1]]
    assert "OK" in again
    assert "asked:" not in again
    seen = "\n".join([HEAD, *(f"$ {command}\n{said}" for command, said in told.items())])
    if os.environ.get("RECORD"):
        RECORDING.write_text(seen, encoding="utf-8")
    assert steady(seen) == steady(RECORDING.read_text(encoding="utf-8"))
