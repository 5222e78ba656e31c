"""What a call sends before its end: the rules of P10 and P11, and how output is bundled (P14).

Owns the order of one call's events and nothing of what carries them: `send` is awaited for
each, one at a time, and how long it takes is the back-pressure that the function feels.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pluggableharness.sdk.events import (
    ExitStatus,
    LeadUp,
    OutputChunk,
    PartialResult,
    Progress,
    Stream,
)
from pluggableharness.sdk.failures import Misuse

HOLD_SECONDS: Final = 0.005
"""How long a small chunk may wait for the next: one stream carries some 12,000 messages/s."""
HOLD_BYTES: Final = 128 * 1024
DIRECT_BYTES: Final = 64 * 1024
"""From here on a chunk is worth a message of its own and is not copied into a bundle."""
MAX_CHUNK_BYTES: Final = 1024 * 1024
"""Longer ones are cut: a receiver's default limit of a message is 4 MiB."""


class EventStream:
    """Sends the events that come before the terminal one, and refuses what would break P10."""

    __slots__ = (
        "_closed",
        "_exited",
        "_flushing",
        "_lock",
        "_loop",
        "_operation",
        "_pending",
        "_pending_bytes",
        "_pending_stream",
        "_send",
        "_sent_at",
        "_timer",
    )

    def __init__(
        self, operation: str, streaming: bool, send: Callable[[LeadUp], Awaitable[None]]
    ) -> None:
        self._operation = operation
        self._send = send
        self._closed = "" if streaming else f"{operation} is declared without streaming=True"
        self._lock: asyncio.Lock | None = None
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._pending_stream: Stream = "stdout"
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._exited = False

    async def output(self, data: bytes | bytearray | memoryview, stream: Stream) -> None:
        """Send bytes of a child's output, bundled with what comes within 5 ms."""
        lock = self._open("output")
        if stream not in ("stdout", "stderr"):
            raise self._misuse("output", f"the stream is {stream!r}, expected stdout or stderr")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise self._misuse("output", f"expected bytes, got {type(data).__name__}")
        chunk = bytes(data)
        if len(chunk) >= DIRECT_BYTES or self._is_idle():
            async with lock:
                await self._send_pending()
                await self._send_output(chunk, stream)
        elif chunk:
            await self._hold(chunk, stream, lock)

    async def progress(self, message: str, fraction: float | None) -> None:
        """Say how far the call is."""
        self._open("progress")
        if not isinstance(message, str):
            raise self._misuse("progress", f"expected a message, got {type(message).__name__}")
        # Written so that NaN, which compares false with everything, is refused.
        if fraction is not None and not 0 <= fraction <= 1:
            raise self._misuse("progress", f"the fraction is {fraction}, expected 0 to 1")
        await self._send_in_order("progress", Progress(message, fraction))

    async def partial(self, payload: Mapping[str, Any]) -> None:
        """Send a part of the result."""
        self._open("partial")
        if not isinstance(payload, Mapping):
            raise self._misuse("partial", f"expected an object, got {type(payload).__name__}")
        await self._send_in_order("partial", PartialResult(payload))

    async def exit_status(self, code: int, signal: str | None) -> None:
        """Say how the child ended; once a call at most."""
        self._open("exit_status")
        if self._exited:
            raise self._misuse("exit_status", "a call has one exit status, and it was sent")
        if isinstance(code, bool) or not isinstance(code, int) or not -(2**31) <= code < 2**31:
            raise self._misuse("exit_status", f"the code is {code!r}, expected a 32-bit integer")
        self._exited = True
        await self._send_in_order("exit_status", ExitStatus(code, signal))

    async def finish(self) -> None:
        """Send what is held back and admit nothing more: the function has ended."""
        lock, self._lock = self._lock, None
        self._closed = f"{self._operation} has returned"
        if lock is not None:
            async with lock:
                await self._send_pending()

    def abandon(self, why: str) -> None:
        """Drop what is held back and admit nothing more: nobody listens."""
        self._closed = why
        self._drop_timer()
        self._pending.clear()
        if self._flushing is not None:
            self._flushing.cancel()

    def _open(self, method: str) -> asyncio.Lock:
        if self._closed:
            raise self._misuse(method, self._closed)
        if self._lock is None:
            self._lock = asyncio.Lock()
            self._loop = asyncio.get_running_loop()
            self._sent_at = self._loop.time() - HOLD_SECONDS
        return self._lock

    def _misuse(self, method: str, problem: str) -> Misuse:
        return Misuse(f"ctx.{method}() of {self._operation}: {problem}")

    def _is_idle(self) -> bool:
        """Tell whether nothing was sent of late, so that waiting for more would gain nothing."""
        return not self._pending and self._loop.time() - self._sent_at >= HOLD_SECONDS

    async def _hold(self, chunk: bytes, stream: Stream, lock: asyncio.Lock) -> None:
        if self._pending and stream != self._pending_stream:
            async with lock:
                await self._send_pending()
        self._pending_stream = stream
        self._pending.append(chunk)
        self._pending_bytes += len(chunk)
        if self._pending_bytes >= HOLD_BYTES:
            async with lock:
                await self._send_pending()
        elif self._timer is None:
            self._timer = self._loop.call_later(HOLD_SECONDS, self._flush_soon, lock)

    def _flush_soon(self, lock: asyncio.Lock) -> None:
        self._timer = None
        self._flushing = self._loop.create_task(self._flush(lock))

    async def _flush(self, lock: asyncio.Lock) -> None:
        async with lock:
            await self._send_pending()

    async def _send_in_order(self, method: str, event: LeadUp) -> None:
        async with self._open(method):
            await self._send_pending()
            try:
                await self._send(event)
            except ValueError as error:
                raise self._misuse(method, str(error)) from None

    async def _send_pending(self) -> None:
        """Send the bundle, if there is one; the lock is held."""
        self._drop_timer()
        if self._pending:
            data = b"".join(self._pending)
            self._pending.clear()
            self._pending_bytes = 0
            await self._send_output(data, self._pending_stream)

    async def _send_output(self, data: bytes, stream: Stream) -> None:
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
