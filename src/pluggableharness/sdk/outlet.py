"""Events of one call on their way out: one at a time, in order, output bundled (P10, P14).

Knows nothing of what may be sent when; `stream` decides that. How long `send` takes is the
back-pressure that the function feels.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

from pluggableharness.sdk.events import LeadUp, OutputChunk, Stream

_HOLD_S: Final = 0.005
"""How long a small chunk may wait for the next: one stream carries some 12,000 messages/s."""
HOLD_BYTES: Final = 128 * 1024
_DIRECT_BYTES: Final = 64 * 1024
"""From here on a chunk is worth a message of its own and is not copied into a bundle."""
MAX_CHUNK_BYTES: Final = 1024 * 1024
"""Longer ones are cut: a receiver's default limit of a message is 4 MiB."""


class Outlet:
    """Sends events one at a time, and holds small output back for what comes within 5 ms.

    The first chunk after a pause leaves at once, so that a slow printer is seen without delay;
    only what follows it closely is bundled.
    """

    __slots__ = (
        "_flushing",
        "_held",
        "_held_bytes",
        "_lock",
        "_loop",
        "_send",
        "_sent_at",
        "_timer",
    )

    def __init__(self, send: Callable[[LeadUp], Awaitable[None]]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lock = asyncio.Lock()
        self._held: list[tuple[Stream, bytes]] = []
        self._held_bytes = 0
        self._sent_at = self._loop.time() - _HOLD_S
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None

    async def output(self, data: bytes, stream: Stream) -> None:
        """Send output, now or within 5 ms; waits while more than 128 KiB would be held."""
        if len(data) >= _DIRECT_BYTES or self._is_idle():
            async with self._lock:
                await self._release()
                await self._send_output(stream, data)
            return
        self._held.append((stream, data))
        self._held_bytes += len(data)
        if self._held_bytes >= HOLD_BYTES:
            await self.drain()
        elif self._timer is None:
            self._timer = self._loop.call_later(_HOLD_S, self._drain_soon)

    async def event(self, event: LeadUp) -> None:
        """Send an event, after the output that is held."""
        async with self._lock:
            await self._release()
            await self._send(event)

    async def drain(self) -> None:
        """Send what is held, after what is being sent."""
        async with self._lock:
            await self._release()

    def abandon(self) -> None:
        """Drop what is held, and send nothing more: nobody listens."""
        self._send = _gone
        self._held.clear()
        self._drop_timer()
        if self._flushing is not None:
            self._flushing.cancel()

    def _is_idle(self) -> bool:
        """Tell whether nothing was sent of late, so that waiting for more would gain nothing."""
        if self._held or self._lock.locked():
            return False
        return self._loop.time() - self._sent_at >= _HOLD_S

    def _drain_soon(self) -> None:
        self._timer = None
        self._flushing = self._loop.create_task(self.drain())

    async def _release(self) -> None:
        """Send what is held; the lock is ours."""
        self._drop_timer()
        if self._held:
            held, self._held, self._held_bytes = self._held, [], 0
            for stream, data in _joined(held):
                await self._send_output(stream, data)

    async def _send_output(self, stream: Stream, data: bytes) -> None:
        if len(data) <= MAX_CHUNK_BYTES:
            await self._send(OutputChunk(data, stream))
        else:
            for start in range(0, len(data), MAX_CHUNK_BYTES):
                await self._send(OutputChunk(data[start : start + MAX_CHUNK_BYTES], stream))
        self._sent_at = self._loop.time()

    def _drop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _joined(held: list[tuple[Stream, bytes]]) -> Iterator[tuple[Stream, bytes]]:
    """Join neighbouring chunks of the same stream."""
    for stream, chunks in groupby(held, itemgetter(0)):
        yield stream, b"".join(data for _, data in chunks)


async def _gone(event: LeadUp) -> None:
    raise asyncio.CancelledError
