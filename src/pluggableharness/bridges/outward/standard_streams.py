"""Standard input and output for the protocol alone, and a reader that a signal can interrupt."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from typing import Final, TextIO

from pluggableharness.kernel.domain.errors import UsageError

_LONGEST_LINE: Final = 64 * 1024 * 1024


def claimed_output() -> TextIO:
    """What is standard output now, as text; from here on what others print goes to stderr."""
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "w", encoding="utf-8")


def _is_conversation(descriptor: int) -> bool:
    """Whether something at the other end may write more later."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class InputLines:
    """The lines of standard input.

    A thread that reads could not be interrupted, and a signal would wait for the client.
    """

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader(limit=_LONGEST_LINE)

    async def open(self) -> None:
        """Begin to read. Raises UsageError for a file, which is no client that answers."""
        if not _is_conversation(0):
            raise UsageError(
                "harness mcp speaks to an MCP client over a pipe, and standard input is none; "
                "let a client start it"
            )
        loop = asyncio.get_running_loop()
        private = os.fdopen(os.dup(0), "rb", buffering=0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._reader), private)

    async def __aiter__(self) -> AsyncIterator[str]:
        """Each line with its end, until the client has left."""
        while line := await self._reader.readline():
            yield line.decode(errors="replace")
