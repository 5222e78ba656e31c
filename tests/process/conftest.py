"""What the tests with real processes share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from process.harness import Harness


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    project, state = tmp_path / "project", tmp_path / "state"
    project.mkdir()
    state.mkdir(mode=0o700)
    started = Harness(project, state)
    yield started
    started.close()
