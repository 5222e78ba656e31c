"""Running asynchronous work under the signals of a terminal.

The first interrupt cancels in order: calls end `cancelled`, the record is closed, providers
stop. A second one leaves at once, also while the loop stands still because nobody reads what
is written; the guards then see their lifelines end and leave no process behind (K16, K17).
"""

import asyncio
import os
import signal
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import FAILED, INTERRUPTED, USAGE
from pluggableharness.cli.kernel_log import show_log
from pluggableharness.cli.privacy import keep_others_out
from pluggableharness.kernel.domain.errors import HarnessError, RecordFailed
from pluggableharness.kernel.frontends.leaving import undo_all

Done = TypeVar("Done")

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_unheard: list[int] = []
"""The signals that have arrived, and that the loop has not heard of yet."""


def run_until_done(work: Callable[[], Coroutine[None, None, int]]) -> int:
    """Run the work and give back its exit code, or what an error or an interrupt makes of it."""
    keep_others_out()
    show_log()
    if not sys.warnoptions:
        # What a library's author is to mend is no news to whoever runs a command.
        warnings.simplefilter("ignore")
    try:
        return asyncio.run(_under_signals(work))
    except asyncio.CancelledError:
        return INTERRUPTED
    except RecordFailed as error:
        complain(error)
        return USAGE if error.before_start else FAILED
    except HarnessError as error:
        complain(error)
        return USAGE


@asynccontextmanager
async def meanwhile(work: Coroutine[None, None, Done]) -> AsyncIterator[asyncio.Task[Done]]:
    """Do work while the block runs; what is not done by its end is left undone."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def leave_at_once() -> None:
    """End the process without waiting for anything; the terminal gets its mode back."""
    undo_all()
    os._exit(INTERRUPTED)


def on_signals(
    numbers: Iterable[int], heard: Callable[[], object], enough: Callable[[], bool]
) -> None:
    """Let the loop that runs call `heard` when one of the signals arrives.

    One that arrives before the loop has heard of another, or when that was `enough`, leaves at
    once. They interrupt a system call that blocks, which the loop's own handlers of signals do
    not.
    """
    loop = asyncio.get_running_loop()

    def hear(number: int) -> None:
        _unheard.remove(number)
        heard()

    def arrive(number: int, _: object) -> None:
        if _unheard or enough():
            leave_at_once()
        _unheard.append(number)
        if not loop.is_closed():
            loop.call_soon_threadsafe(hear, number)

    for number in numbers:
        signal.signal(number, arrive)


async def _under_signals(work: Callable[[], Coroutine[None, None, int]]) -> int:
    task = asyncio.ensure_future(work())
    asked = False

    def interrupted() -> None:
        nonlocal asked
        asked = True
        task.cancel()

    on_signals(_ENDINGS, interrupted, lambda: asked)
    return await task
