"""Ending whatever runs over a kernel that closes (K16, K17)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Stops(Protocol):
    """What runs calls, and can be told to end them."""

    async def stop(self) -> None:
        """Return when nothing of it runs any more."""
        ...


class Stopping:
    """What is to be stopped before the processes that it calls are ended."""

    def __init__(self) -> None:
        self._open: dict[int, Stops] = {}

    @contextmanager
    def stopped_with_all(self, one: Stops) -> Iterator[None]:
        """Count it among what `stop` ends, for the length of a block."""
        self._open[id(one)] = one
        try:
            yield
        finally:
            del self._open[id(one)]

    async def stop(self) -> None:
        """Let all that runs end as cancelled."""
        await asyncio.gather(*(one.stop() for one in [*self._open.values()]))
