"""Running asynchronous work under the signals of a terminal.

The first interrupt cancels in order: calls end `cancelled`, the record is closed, providers
stop. A second one leaves at once; the guards then see their lifelines end and leave no
process behind (K16, K17).
"""

import asyncio
import os
import signal
import sys
import warnings
from collections.abc import Callable, Coroutine

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import FAILED, INTERRUPTED, USAGE
from pluggableharness.cli.kernel_log import show_log
from pluggableharness.cli.privacy import keep_others_out
from pluggableharness.kernel.domain.errors import HarnessError, RecordFailed
from pluggableharness.kernel.frontends.leaving import undo_all

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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


def leave_at_once() -> None:
    """End the process without waiting for anything; the terminal gets its mode back."""
    undo_all()
    os._exit(INTERRUPTED)


async def _under_signals(work: Callable[[], Coroutine[None, None, int]]) -> int:
    task = asyncio.ensure_future(work())
    asked = False

    def interrupted() -> None:
        nonlocal asked
        if asked:
            leave_at_once()
        asked = True
        task.cancel()

    loop = asyncio.get_running_loop()
    for ending in _ENDINGS:
        loop.add_signal_handler(ending, interrupted)
    return await task
