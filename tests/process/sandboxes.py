"""Sandboxed commands as tests run them: with each mechanism that this machine has."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.providers.exec import bubblewrap, sandbox
from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk.testing import Outcome, Tool, opened

WAIT_S = 60


@pytest.fixture(params=["bubblewrap", "Landlock"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The mechanism, made the only one where it is Landlock."""
    if request.param == "Landlock":
        monkeypatch.setattr(bubblewrap, "find", lambda: None)
    # The choice is kept for the process; each test here makes its own.
    monkeypatch.setattr(sandbox, "mechanism", sandbox.mechanism.__wrapped__)
    found = sandbox.mechanism()
    if isinstance(found, sandbox.Unavailable) or request.param not in found.name:
        pytest.skip(f"{request.param} does not work on this machine: {found}")
    return str(request.param)


@pytest.fixture
async def tool(kind: str, tmp_path: Path) -> AsyncIterator[Tool]:
    """The exec provider with its defaults, in an empty working directory."""
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "workspace"}) as tool:
        yield tool


async def bash(tool: Tool, command: str, **arguments: Any) -> Outcome:
    return await tool("bash", command=command, timeout_s=WAIT_S, **arguments)


async def output(tool: Tool, command: str, **arguments: Any) -> str:
    """What a command prints that has to succeed."""
    payload = (await bash(tool, command, **arguments)).payload
    assert payload["exit_code"] == 0, payload["output"]
    return str(payload["output"])
