"""A person's answers, read from a terminal by single keys or from a pipe by lines.

Reading never blocks the loop and never outlives its task: a cancelled read leaves the
terminal as it was. Knows nothing of what is asked.
"""

import asyncio
import os
import signal
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from pluggableharness.kernel.frontends.leaving import undone
from pluggableharness.kernel.frontends.readable import readable

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

    async def key(
        self, invite: Callable[[], None], again: Callable[[], None] = lambda: None
    ) -> str | None:
        """The next key, or all that came with it in one burst; of a pipe its next line.

        `invite` shows that an answer is awaited, also after this process was stopped and goes
        on, when `again` draws before it what was asked. What was typed before is dropped: it cannot
        be the answer to a question that its author had not seen. None means that nothing
        will ever come.
        """
        if not self.is_terminal:
            invite()
            return await self.line()
        loop = asyncio.get_running_loop()

        def ask_again() -> None:
            loop.call_soon_threadsafe(again)
            loop.call_soon_threadsafe(invite)

        try:
            with _mode(self._descriptor, echo=False, lines=False, resumed=ask_again):
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
                invite()
                data = await self._read()
        except termios.error:
            data = b""  # the terminal is gone
        self._ended = not data
        return data.decode(errors="replace") if data else None

    async def line(
        self, again: Callable[[], None] = lambda: None, *, fresh: bool = False
    ) -> str | None:
        """The next line without its end, edited and echoed by the terminal; None at the end.

        `again` shows that it is awaited, after this process was stopped and goes on. With `fresh`
        what was typed before is dropped, as it is for a key.
        """
        loop = asyncio.get_running_loop()

        def ask_again() -> None:
            loop.call_soon_threadsafe(again)

        ours = self._is_ours
        with _mode(self._descriptor, echo=True, resumed=ask_again) if ours else nullcontext():
            if fresh and self._is_ours:
                termios.tcflush(self._descriptor, termios.TCIFLUSH)
                self._rest = b""
            return await self._line()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """For the length of a block, do not let what is typed show up between what is drawn.

        It stays to be read. Where this is no terminal of ours nothing changes.
        """
        with _mode(self._descriptor, echo=False) if self._is_ours else nullcontext():
            yield

    @contextmanager
    def lent(self) -> Iterator[int]:
        """For the length of a block let another program read the keys of this descriptor, from a
        terminal in its usual mode."""
        with _mode(self._descriptor, echo=True), _after_a_stop(lambda: None):
            yield self._descriptor

    @property
    def _is_ours(self) -> bool:
        """Whether the terminal's mode may be changed: from the background that would stop us."""
        return self.is_terminal and self._in_foreground()

    async def _line(self) -> str | None:
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
        await readable(self._descriptor)
        try:
            return os.read(self._descriptor, _MOST_READ)
        except OSError:
            return b""  # hung up, or closed

    def _in_foreground(self) -> bool:
        return _in_foreground(self._descriptor)


def _in_foreground(descriptor: int) -> bool:
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def _mode(
    descriptor: int,
    *,
    echo: bool,
    lines: bool = True,
    resumed: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Keys echoed or not, and by lines or each at once; the interrupt and stop keys stay.

    The shell in whose hands a stopped process leaves the terminal changes the mode, which is
    set again when this process goes on; `resumed` is called then.
    """
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        yield  # the terminal is gone; reading will say so
        return
    mode = list(before)
    wanted = (termios.ECHO if echo else 0) | (termios.ICANON if lines else 0)
    mode[3] = (mode[3] & ~(termios.ICANON | termios.ECHO)) | wanted
    mode[6] = list(mode[6])
    if not lines:
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0

    def change(to: list[Any]) -> None:
        """Change it at once: what a terminal that stands still has not drawn is not waited for."""
        try:
            if _in_foreground(descriptor):  # from the background it would stop us
                termios.tcsetattr(descriptor, termios.TCSANOW, to)
        except termios.error:
            pass  # the terminal is gone, and its mode with it

    def go_on() -> None:
        if _in_foreground(descriptor):
            change(mode)
            resumed()

    with undone(lambda: change(before)), _after_a_stop(go_on):
        termios.tcsetattr(descriptor, termios.TCSANOW, mode)
        yield


@contextmanager
def _after_a_stop(go_on: Callable[[], None]) -> Iterator[None]:
    """For the length of a block, call `go_on` whenever this process was stopped and goes on.

    Only the main thread may say so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGCONT, lambda *_: go_on())
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, before or signal.SIG_DFL)
