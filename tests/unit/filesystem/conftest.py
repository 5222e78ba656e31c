"""An open filesystem provider whose calls work in a fresh folder."""

import errno
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from pluggableharness.providers.filesystem.provider import provider
from pluggableharness.sdk.testing import Tool, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The working directory, with other folders beside it."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
async def tool(folder: Path) -> AsyncIterator[Tool]:
    """The provider as it comes."""
    async with opened(provider, cwd=folder) as open_tool:
        yield open_tool


@pytest.fixture
async def unguarded(folder: Path) -> AsyncIterator[Tool]:
    """The provider with `require_read` off."""
    async with opened(provider, cwd=folder, settings={"require_read": False}) as open_tool:
        yield open_tool


@pytest.fixture(params=["unnamed", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With files that have no name until they are complete, and where there are none such."""
    if request.param == "named":
        real = os.open

        def no_unnamed_files(path: object, flags: int, *rest: object, **more: object) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, "not here")
            return real(path, flags, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", no_unnamed_files)
    return str(request.param)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)
