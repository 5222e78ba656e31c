"""A terminal frontend under watch: what it writes, its clock, and answers through a pipe."""

import asyncio
import io
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from unit.frontends.emulator import seen
from unit.frontends.fakes import BASH, call, item

from pluggableharness.kernel.domain.outcome import (
    OutputChunk,
    OutputStream,
)
from pluggableharness.kernel.domain.plan import Answer
from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.terminal import Terminal

PLAIN = Looks()
BOUND_S = 10


class Watched:
    """A terminal frontend, what it wrote, its clock, and a pipe to answer through."""

    def __init__(self, looks: Looks = PLAIN, *, piped: bool = True) -> None:
        self.out = io.StringIO()
        self.now = 100.0
        self.answers, self._type_into = os.pipe()
        self.frontend = Terminal(
            self.out, Keys(self.answers, piped=piped), looks=looks, clock=lambda: self.now
        )
        self.hear = self.frontend.hear

    def type(self, text: str) -> None:
        os.write(self._type_into, text.encode())

    def hang_up(self) -> None:
        if self._type_into >= 0:
            os.close(self._type_into)
            self._type_into = -1

    @property
    def screen(self) -> list[str]:
        return [line for line in seen(self.out.getvalue()) if line.strip()]

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND_S):
            while not reached():
                await asyncio.sleep(0)

    def close(self) -> None:
        self.frontend.close()
        self.hang_up()
        os.close(self.answers)


@contextmanager
def watched(looks: Looks = PLAIN, *, piped: bool = True) -> Iterator[Watched]:
    terminal = Watched(looks, piped=piped)
    try:
        yield terminal
    finally:
        terminal.close()


@asynccontextmanager
async def asking(
    terminal: Watched, *calls: str
) -> AsyncIterator[list[asyncio.Task[Answer | None]]]:
    """Questions about as many shell commands, the first of them on the screen."""
    items = [item(call(BASH, name, command=f"run {name}")) for name in calls]
    tasks = [asyncio.ensure_future(terminal.frontend.decide(each, "")) for each in items]
    try:
        await terminal.until(lambda: "? help" in terminal.out.getvalue())
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def chunk(data: bytes, stream: OutputStream = OutputStream.STDOUT) -> OutputChunk:
    return OutputChunk(stream, data)
