"""An open web provider in a world of its own."""

from collections.abc import AsyncIterator

import pytest
from unit.web.world import World

from pluggableharness.providers.web import provider as web
from pluggableharness.sdk.testing import Tool, opened


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(web, "network", world.network())
    return world


@pytest.fixture
async def tool(world: World) -> AsyncIterator[Tool]:
    """The provider with its defaults."""
    async with opened(web.provider) as tool:
        yield tool
