"""The event loop that a kernel and its sessions live in (K34)."""

import asyncio

from pluggableharness.kernel.domain.errors import UsageError


class OneLoop:
    """The event loop that runs when this is made: locks, connections and tasks belong to it."""

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def check(self) -> None:
        """Raise UsageError when another loop runs, as it does in another thread."""
        if asyncio.get_running_loop() is not self._loop:
            raise UsageError(
                "this event loop is not the one that the kernel was opened in. Make the call "
                "there: from another thread, asyncio.run_coroutine_threadsafe(CALL, LOOP).result()"
            )
