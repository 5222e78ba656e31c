"""Whose question is next: one at a time, and after an answer first what comes of it (K10, K32)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Floor:
    """Lets questions be asked one after another, in the order in which they came.

    Whoever has just answered looks for what their answer led to: an edited call that is asked
    about again goes before those that wait, and so does the first line of a call that runs. For
    that the floor is kept, for a bounded time, since neither has to come.
    """

    def __init__(self) -> None:
        self._taken = asyncio.Lock()
        self._kept_for = ""
        self._limit: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def taken(self, call_id: str) -> AsyncIterator[None]:
        """Wait for the floor, and have it for the length of a block; it may be kept beyond."""
        if self._kept_for and self._kept_for == call_id:
            self._no_longer_kept()
        else:
            await self._taken.acquire()
        try:
            yield
        finally:
            if not self._kept_for:
                self._taken.release()

    def keep(self, call_id: str, seconds: float) -> None:
        """Within such a block: keep the floor after it, until `over` or until the time is up."""
        self._kept_for = call_id
        self._limit = asyncio.get_running_loop().call_later(seconds, self.over, call_id)

    def over(self, call_id: str = "") -> None:
        """What was waited for has come; without an id, nothing is waited for any more."""
        if self._kept_for and call_id in (self._kept_for, ""):
            self._no_longer_kept()
            self._taken.release()

    def _no_longer_kept(self) -> None:
        self._kept_for = ""
        if self._limit is not None:
            self._limit.cancel()
