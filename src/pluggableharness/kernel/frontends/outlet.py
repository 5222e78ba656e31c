"""Where a frontend's bytes leave: whole, in order, and without an exception when nobody reads."""

import asyncio
import os
import select
import stat
from collections.abc import Callable
from typing import ClassVar, Final, TextIO

from pluggableharness.kernel.frontends.readable import writable

_STANDARD_OUTPUT: Final = 1
_MOST_AT_ONCE: Final = 1 << 20
_NO_TERMINAL: Final = os.terminal_size((0, 0))


class Outlet:
    """Writes to a stream, straight to its descriptor when it has one.

    Going past Python's buffer keeps an interrupted write from being lost or repeated, and
    leaves nothing to fail at exit. When the reader has gone (`| head`), or the disk is full,
    the rest is dropped and `lost` holds the error: a session must not end half way through a
    call because its output has nowhere to go.

    A pipe whose reader takes nothing does not make a running loop stand still: what it has no room
    for is kept, and whoever writes waits for `room`, or for `flush` in the end.

    With `gather` it waits until that many bytes have come together, or until `flush`: for what
    nobody watches as it comes, since each write takes longer than making a line.
    """

    unwritten: ClassVar[OSError | None] = None
    """Why standard output took no more, whichever outlet wrote there last; None for a reader
    that has gone."""

    def __init__(self, out: TextIO, gather: int = 0) -> None:
        out.flush()
        self._out = out
        self._gather = gather
        self._gathered = bytearray()
        self._left = bytearray()
        self._leaving = asyncio.Lock()
        self._descriptor = _descriptor(out)
        self._pipe = select.poll() if _is_pipe(self._descriptor) else None
        if self._pipe is not None and self._descriptor is not None:
            self._pipe.register(self._descriptor, select.POLLOUT)
        self.encoding: str = getattr(out, "encoding", None) or "utf-8"
        self.lost: OSError | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether a terminal is at the other end."""
        return self._descriptor is not None and os.isatty(self._descriptor)

    @property
    def columns(self) -> int:
        """The width of the terminal, 0 when there is none."""
        return self._size.columns

    @property
    def rows(self) -> int:
        """The height of the terminal, 0 when there is none."""
        return self._size.lines

    @property
    def _size(self) -> os.terminal_size:
        if self._descriptor is None:
            return _NO_TERMINAL
        try:
            return os.get_terminal_size(self._descriptor)
        except OSError:
            return _NO_TERMINAL

    def write(self, text: str) -> None:
        """Write text; what the encoding cannot hold is written as an escape."""
        self.write_bytes(text.encode(self.encoding, "backslashreplace"))

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are."""
        if self._gather:
            self._gathered += data
            if len(self._gathered) >= self._gather:
                self._send_gathered()
        else:
            self._send(data)

    async def room(self) -> None:
        """Return when all that was written has left; the loop runs while a pipe is full (P14)."""
        if not self._left:
            return
        async with self._leaving:
            while self._left and self._descriptor is not None:
                await writable(self._descriptor)
                self._attempt(self._push)

    def flush(self) -> None:
        """Write what was gathered and what was kept, however long the reader takes."""
        self._send_gathered()
        self._attempt(self._put)

    def _send_gathered(self) -> None:
        data, self._gathered = bytes(self._gathered), bytearray()
        self._send(data)

    def _send(self, data: bytes) -> None:
        self._left += data
        self._attempt(self._put if self._pipe is None or not _loop_runs() else self._push)

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            if not self.lost:
                write()
        except OSError as error:
            self.lost = error
            if self._descriptor == _STANDARD_OUTPUT and not isinstance(error, BrokenPipeError):
                Outlet.unwritten = error
        if self.lost:
            self._left.clear()

    def _push(self) -> None:
        """Write as much as there is room for: so much a pipe that is ready takes at once."""
        while self._left and self._pipe is not None and self._pipe.poll(0):
            self._write(bytes(self._left[: select.PIPE_BUF]))

    def _put(self) -> None:
        """Write all of it."""
        if self._descriptor is None:
            self._out.write(self._left.decode(self.encoding, "replace"))
            self._out.flush()
            self._left.clear()
        while self._left:
            self._write(bytes(self._left[:_MOST_AT_ONCE]))

    def _write(self, data: bytes) -> None:
        assert self._descriptor is not None
        try:
            del self._left[: os.write(self._descriptor, data)]
        except BlockingIOError:
            # Another process has made the shared terminal non-blocking.
            select.select([], [self._descriptor], [])


def _descriptor(out: TextIO) -> int | None:
    try:
        return out.fileno()
    except OSError:
        return None


def _is_pipe(descriptor: int | None) -> bool:
    try:
        return descriptor is not None and stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
