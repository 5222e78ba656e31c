"""An open search provider whose calls work in a fresh folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pluggableharness.providers.search.provider import provider
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
