"""What the tests with real processes share."""

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from process.harness import Harness, placed
from provider_host import CHATTY, SECRET, Host, hosted

# Asked for by its variable, since the model is large; no part of the tests otherwise.
collect_ignore = [] if os.environ.get("PLUGGABLEHARNESS_LOCAL_MODEL") else ["test_local_model.py"]


@pytest.fixture
def harness(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Harness]:
    """The command in an empty project, or in one with the providers that the test names."""
    with placed(tmp_path) as started:
        if named := request.node.get_closest_marker("providers"):
            started.configure("", *named.args)
        yield started


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    """A served provider under a host that has no kernel."""
    async with hosted(CHATTY, tmp_path, configuration={"token": SECRET}) as started:
        yield started


@pytest.fixture
async def kernel_host(tmp_path: Path) -> AsyncIterator[Host]:
    """A served provider under a host whose kernel it can call back."""
    configuration = {"token": SECRET}
    async with hosted(CHATTY, tmp_path, with_kernel=True, configuration=configuration) as started:
        yield started


@pytest.fixture
def shared_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sockets of this test go here, so that what is left behind can be seen."""
    directory = Path(tempfile.mkdtemp(prefix="t-"))
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory
