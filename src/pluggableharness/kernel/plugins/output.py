"""What a provider process prints: its first line, and the last of its complaints.

Pipes are always emptied, whether anybody wants what they hold or not: a full one stops the
process. Never waits for an end of file, which a process's own children can put off for ever.
"""

import asyncio
import os
from collections.abc import Callable
from typing import IO, Final

from pluggableharness.wire.handshake import MAX_LINE_BYTES
from pluggableharness.wire.masking import Mask

_CHUNK: Final = 65_536
_PIPE_HOLDS: Final = 1_048_576
_KEPT_BYTES: Final = 16_384
_KEPT_LINES: Final = 20
MAX_TOLD: Final = 400
"""Characters of a line that are told."""


class PipeReader:
    """Reads a pipe on the event loop as things come, and hands them on."""

    def __init__(self, pipe: IO[bytes], heard: Callable[[bytes], None]) -> None:
        """Take over the pipe; `heard` gets b"" once, at the end of file."""
        os.set_blocking(pipe.fileno(), False)
        self._pipe = pipe
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(pipe.fileno(), self._read)

    def drain(self) -> None:
        """Take what is there now, for when the writer is known to be gone.

        At most what a pipe holds: a child that inherited it may go on writing.
        """
        for _ in range(_PIPE_HOLDS // _CHUNK):
            if self._pipe.closed or not self._read():
                return

    def close(self) -> None:
        """Stop reading."""
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()

    def _read(self) -> bool:
        try:
            data = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
        self._heard(data)
        return True


class LastLines:
    """The end of a stream of text, in bounded memory."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._cut = False

    def add(self, data: bytes) -> None:
        """Take more of the stream."""
        self._kept += data
        excess = len(self._kept) - _KEPT_BYTES
        if excess > _KEPT_BYTES:
            del self._kept[:excess]
            self._cut = True

    def lines(self, secrets: tuple[str, ...] = ()) -> list[str]:
        """Return the last lines, printable, each cut, with the given secrets blotted out (P31)."""
        text = Mask(secrets).text(self._kept.decode("utf-8", "replace"))
        lines = text.splitlines()[1 if self._cut else 0 :]
        return [printable(line[:MAX_TOLD]) for line in lines if line.strip()][-_KEPT_LINES:]


def printable(line: str) -> str:
    """Without control characters: what a hostile process prints must not move a cursor."""
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)


class FirstLine:
    """The first line of a stream: the handshake, once it is whole or can no longer be one."""

    def __init__(self) -> None:
        self.arrived: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        """The line, or what there was of it at the end of file or at the limit of its length."""
        self._kept = bytearray()

    @property
    def so_far(self) -> bytes:
        """What has come of it."""
        return bytes(self._kept)

    def add(self, data: bytes) -> None:
        """Take more of the stream; b"" is its end."""
        if self.arrived.done():
            return
        self._kept += data[: MAX_LINE_BYTES + 1]
        line, newline, _ = self._kept.partition(b"\n")
        if newline or not data or len(self._kept) > MAX_LINE_BYTES:
            self.arrived.set_result(bytes(line))
