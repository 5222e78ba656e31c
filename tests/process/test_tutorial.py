"""The tutorial: each command on its pages is run as its reader would, and prints what they show.

`make recordings` writes the pages' outputs anew.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.shell import Shell, played, steady

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))


@pytest.fixture
def shell() -> Iterator[Shell]:
    """A shell in the clone, of a person who has nothing else."""
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as home, Shell(Path(home), ROOT) as it:
        yield it


@pytest.mark.req("K10", "K29", "K30", "K32", "F11", "P32")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_command_prints_what_the_page_shows(page: Path, shell: Shell) -> None:
    written = page.read_text(encoding="utf-8")
    seen = played(written, shell)
    if os.environ.get("RECORD"):
        page.write_text(seen, encoding="utf-8")
        written = seen
    assert steady(seen) == steady(written)


def test_what_readme_shows_is_what_the_tutorial_prints() -> None:
    (shown,) = re.findall(r"## What you see\n\n```\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    printed = PAGES[0].read_text("utf-8").splitlines()
    assert [line for line in shown.splitlines() if line not in printed] == []
