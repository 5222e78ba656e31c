"""File work in a thread that a cancelled call does not leave behind.

A thread cannot be cancelled. So a cancelled call asks its work to give up, waits until it has,
and only then ends: no lock is let go while a file is still being written.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class GivenUp(Exception):
    """Raised in the thread where the work stops because nobody waits for it any more."""


async def in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Run `work` in a thread; it gets a `check` to call now and then, which raises GivenUp.

    Raises CancelledError, after the work has ended, when the caller was cancelled.
    """
    stopped = threading.Event()

    def check() -> None:
        if stopped.is_set():
            raise GivenUp

    running = asyncio.ensure_future(asyncio.to_thread(work, check))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stopped.set()
        await _ended(running)
        raise


async def _ended(running: asyncio.Future[T]) -> None:
    while not running.done():
        try:
            await asyncio.wait((running,))
        except asyncio.CancelledError:  # asked again: the answer is the same
            continue
    if not running.cancelled():
        running.exception()  # seen, so that nobody reports it as lost


def never() -> None:
    """Be the `check` of work that runs to its end."""
