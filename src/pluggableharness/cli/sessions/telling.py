"""Telling a recorded story to a frontend (K30)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from pluggableharness.kernel.domain.news import News, Notice
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.store.index import summary
from pluggableharness.kernel.store.reading import read_events
from pluggableharness.kernel.store.story import Prompted, story


class Listener(Protocol):
    """The part of a frontend that a story needs."""

    async def hear(self, news: News) -> None:
        """Take a piece of news."""
        ...


class RecordedClock:
    """Tells the time of the piece that is being told, in seconds since 1970."""

    def __init__(self, log: Path) -> None:
        self.now = summary(log).started / 1e6

    def __call__(self) -> float:
        """The time."""
        return self.now


def typed_at(terminal: Terminal) -> Callable[[str], Awaitable[None]]:
    """What shows at a terminal what a person wrote there."""

    async def prompted(text: str) -> None:
        await terminal.hear(Notice("info", "> " + text.replace("\n", "\n> ")))

    return prompted


async def tell(
    log: Path,
    listener: Listener,
    clock: RecordedClock,
    prompted: Callable[[str], Awaitable[None]] | None = None,
) -> None:
    """Let the listener hear a log's story, each piece at its own time.

    What a person wrote goes to `prompted`. Raises LogUnreadable, and ValueError for rows that
    no kernel wrote.
    """
    for told in story(read_events(log)):
        clock.now = told.time / 1e6
        if not isinstance(told.piece, Prompted):
            await listener.hear(told.piece)
        elif prompted is not None:
            await prompted(told.piece.text)
