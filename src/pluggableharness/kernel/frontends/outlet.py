"""Where a frontend's bytes leave: whole, in order, and without an exception when nobody reads."""

import os
import select
from typing import ClassVar, Final, TextIO

_STANDARD_OUTPUT: Final = 1
_NO_TERMINAL: Final = os.terminal_size((0, 0))


class Outlet:
    """Writes to a stream, straight to its descriptor when it has one.

    Going past Python's buffer keeps an interrupted write from being lost or repeated, and
    leaves nothing to fail at exit. When the reader has gone (`| head`), or the disk is full,
    the rest is dropped and `lost` holds the error: a session must not end half way through a
    call because its output has nowhere to go.

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
        self._descriptor = _descriptor(out)
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
                self.flush()
        else:
            self._send(data)

    def flush(self) -> None:
        """Write what was gathered."""
        data, self._gathered = bytes(self._gathered), bytearray()
        self._send(data)

    def _send(self, data: bytes) -> None:
        if self.lost:
            return
        try:
            self._put(data)
        except OSError as error:
            self.lost = error
            if self._descriptor == _STANDARD_OUTPUT and not isinstance(error, BrokenPipeError):
                Outlet.unwritten = error

    def _put(self, data: bytes) -> None:
        if self._descriptor is None:
            self._out.write(data.decode(self.encoding, "replace"))
            self._out.flush()
            return
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                # Another process has made the shared terminal non-blocking.
                select.select([], [self._descriptor], [])


def _descriptor(out: TextIO) -> int | None:
    try:
        return out.fileno()
    except OSError:
        return None
