"""Standard input and output for the protocol alone, and a reader that a signal can interrupt."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import Final, TextIO

_LONGEST_LINE: Final = 64 * 1024 * 1024


def claimed_output() -> TextIO:
    """What is standard output now, as text; from here on what others print goes to stderr."""
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "w", encoding="utf-8")


class InputLines:
    """The lines of standard input.

    A thread that reads could not be interrupted, and a signal would wait for the client.
    """

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader(limit=_LONGEST_LINE)

    async def open(self) -> None:
        """Begin to read. A file, which never makes anyone wait, is read at once."""
        loop = asyncio.get_running_loop()
        private = os.fdopen(os.dup(0), "rb", buffering=0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        try:
            await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(self._reader), private
            )
        except ValueError:
            self._reader.feed_data(private.read())
            self._reader.feed_eof()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Each line with its end, until the client has left."""
        while line := await self._reader.readline():
            yield line.decode(errors="replace")
