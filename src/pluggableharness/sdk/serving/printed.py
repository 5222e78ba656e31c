"""What is printed after the handshake line, and where it goes (go-plugin's GRPCStdio).

The real stdout carries one line and nothing else. After it fd 1 is the real stderr, which every
host reads, until a host subscribes to the stream: then it is a pipe whose content goes there.
fd 2 stays what it was: a traceback or a crash's last words must not need this process to live on.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator
from io import TextIOWrapper
from typing import Final

import grpc.aio

from pluggableharness.wire.plugin_pb2 import StdioData

_MAX_WAITING_BYTES: Final = 1024 * 1024
"""What is kept for a slow host; a print must never wait for it, so more is dropped, and said."""


class Printed:
    """Owns fd 1 of this process."""

    def __init__(self) -> None:
        self._subscribed = False

    def take_stdout(self) -> int:
        """Point fd 1 at stderr and return the real stdout, for the handshake line."""
        real = os.dup(1)
        os.dup2(2, 1)
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)
        return real

    async def stream(
        self, request: bytes, rpc: grpc.aio.ServicerContext[bytes, bytes]
    ) -> AsyncIterator[bytes]:
        """Send what is printed to stdout while the host listens; to one host at a time."""
        if self._subscribed:
            await rpc.abort(grpc.StatusCode.ALREADY_EXISTS, "stdout goes to another stream")
        self._subscribed = True
        pipe = _Pipe(asyncio.get_running_loop())
        try:
            while True:
                data = await pipe.read()
                yield StdioData(channel=StdioData.STDOUT, data=data).SerializeToString()
        finally:
            os.dup2(2, 1)
            self._subscribed = False


class _Pipe:
    """A pipe at fd 1, emptied by a thread.

    The loop itself may be what prints, and it would wait for ever for itself to read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._dropped = 0
        self._arrived = asyncio.Event()
        reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.close(writing)
        threading.Thread(target=self._drain, args=(reading,), daemon=True).start()

    async def read(self) -> bytes:
        """Return what was printed since the last time, at least one byte."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        data = b"".join(self._waiting)
        if self._dropped:
            data += f"\n[{self._dropped} bytes dropped: the host reads too slowly]\n".encode()
        self._waiting.clear()
        self._bytes = self._dropped = 0
        return data

    def _drain(self, reading: int) -> None:
        while data := os.read(reading, 65536):
            try:
                self._loop.call_soon_threadsafe(self._take, data)
            except RuntimeError:  # the loop is closed; the process is about to end
                break
        os.close(reading)

    def _take(self, data: bytes) -> None:
        if self._bytes + len(data) > _MAX_WAITING_BYTES:
            self._dropped += len(data)
        else:
            self._waiting.append(data)
            self._bytes += len(data)
        self._arrived.set()
