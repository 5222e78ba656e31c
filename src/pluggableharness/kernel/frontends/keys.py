"""A person's answers, read from a terminal by single keys or from a pipe by lines.

Reading never blocks the loop and never outlives its task: a cancelled read leaves the
terminal as it was. Knows nothing of what is asked.
"""

import asyncio
import atexit
import os
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MOST_READ = 4096
_LONGEST_LINE = 64 * 1024


class Keys:
    """Reads from a file descriptor: a terminal or, when `piped` is asked for, anything else.

    A terminal is attended only while this process is in its foreground. A pipe is attended
    only by request, since one that never closes looks exactly like a person who thinks.
    """

    def __init__(self, descriptor: int = 0, *, piped: bool = False) -> None:
        self._descriptor = descriptor
        self._piped = piped
        self._rest = b""
        self._ended = False

    @property
    def attended(self) -> bool:
        """Whether an answer may come from here."""
        if self._ended:
            return False
        return self._piped or (self.is_terminal and self._in_foreground())

    @property
    def is_terminal(self) -> bool:
        """Whether single keys can be read."""
        try:
            return os.isatty(self._descriptor)
        except OSError:
            return False

    async def key(self, invite: Callable[[], None]) -> str | None:
        """The next key, or all that came with it in one burst; of a pipe its next line.

        `invite` shows that an answer is awaited. What was typed before is dropped: it cannot
        be the answer to a question that its author had not seen. None means that nothing
        will ever come.
        """
        if not self.is_terminal:
            invite()
            return await self.line()
        try:
            with _single_keys(self._descriptor):
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
                invite()
                data = await self._read()
        except termios.error:
            data = b""  # the terminal is gone
        self._ended = not data
        return data.decode(errors="replace") if data else None

    async def line(self) -> str | None:
        """The next line without its end, edited and echoed by the terminal; None at the end."""
        while b"\n" not in self._rest and len(self._rest) < _LONGEST_LINE:
            burst = await self._read()
            if not burst:
                return self._last_line()
            self._rest += burst
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def _last_line(self) -> str | None:
        """What stood before the end. On a terminal the end is a key, and more may follow."""
        self._ended = not self.is_terminal
        line, self._rest = self._rest, b""
        return line.decode(errors="replace") if line else None

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._descriptor, ready.set)
        except OSError:
            pass  # a regular file or /dev/null, which the poller refuses since it never blocks
        else:
            try:
                await ready.wait()
            finally:
                loop.remove_reader(self._descriptor)
        try:
            return os.read(self._descriptor, _MOST_READ)
        except OSError:
            return b""  # hung up, or closed

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:
            return False


@contextmanager
def _single_keys(descriptor: int) -> Iterator[None]:
    """Each key at once and without echo; the interrupt and stop keys keep their meaning."""
    before = termios.tcgetattr(descriptor)
    mode = termios.tcgetattr(descriptor)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0

    def restore() -> None:
        try:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        except termios.error:
            pass  # the terminal is gone, and its mode with it

    atexit.register(restore)  # a loop that is torn down may never resume us
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        yield
    finally:
        atexit.unregister(restore)
        restore()
