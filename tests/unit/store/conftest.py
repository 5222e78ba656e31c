"""A log of a session in a directory of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from store_logs import SESSION

from pluggableharness.kernel.store.errors import LogFailed
from pluggableharness.kernel.store.log import EventLog


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    log = EventLog.create(tmp_path / "sessions", SESSION)
    yield log
    try:
        await log.close()
    except LogFailed:
        pass  # The test broke it on purpose.
