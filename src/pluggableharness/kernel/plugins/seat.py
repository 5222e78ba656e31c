"""The place of one provider process: who sits there changes, the lock table stays (P18, K15).

Owns starting once for however many ask, restarting on next use, and how long to wait before.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from pluggableharness.kernel.plugins.process import ProviderProcess
from pluggableharness.kernel.scheduling import LockTable

Start = Callable[[], Awaitable[ProviderProcess]]
"""Starts a process that is ready for calls; raises ProviderLoadError."""

_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 10.0


class Seat:
    """At most one process at a time, and the locks of the calls to it."""

    def __init__(self, start: Start) -> None:
        self.locks = LockTable()
        self._start = start
        self._process: ProviderProcess | None = None
        self._starting: asyncio.Task[ProviderProcess] | None = None
        self._failures = 0
        self._not_before = 0.0

    @property
    def present(self) -> ProviderProcess | None:
        """The process, if one is here and may be called."""
        process = self._process
        return process if process is not None and process.usable else None

    async def process(self) -> ProviderProcess:
        """Return the process, started now if need be: once, however many ask (K15).

        Raises:
            ProviderLoadError: it cannot be had.
        """
        process = self.present
        if process is not None:
            return process
        if self._starting is None:
            self._starting = asyncio.create_task(self._fill())
            self._starting.add_done_callback(self._filled)
        # Shielded: who stops waiting must not stop the start for the others.
        return await asyncio.shield(self._starting)

    async def close(self) -> None:
        """End whatever is here or on its way."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        process, self._process = self._process, None
        if process is not None:
            await process.close()

    async def _fill(self) -> ProviderProcess:
        await self._clear()
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._not_before - loop.time()))
        try:
            self._process = await self._start()
        except Exception:
            self._note_failure()
            raise
        return self._process

    async def _clear(self) -> None:
        """Be rid of a process that has ended, before another takes its place."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.calls.any_succeeded:
            self._failures, self._not_before = 0, 0.0
        else:
            self._note_failure()
        await process.discard()

    def _note_failure(self) -> None:
        pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**self._failures)
        self._failures += 1
        self._not_before = asyncio.get_running_loop().time() + pause_s

    def _filled(self, task: "asyncio.Task[ProviderProcess]") -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # told to those who waited; there may be none left
