"""A kernel with a busy session, which kills itself at a named point.

`python -m bench.survive.doomed DIRECTORY MARK ACKS POINT COUNT`: at the point's COUNT-th time,
or after COUNT milliseconds `anywhere`. What its log acknowledged goes to the file ACKS, eight
bytes for each sequence, before anyone else hears of it.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.driving import Discard
from bench.survive.busy import busy, setup
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.plugins.calls import Calls
from pluggableharness.kernel.store.file import LogFile
from pluggableharness.kernel.store.log import EventLog

POINTS = (
    "before a write",
    "after a write",
    "before a send",
    "after a send",
    "after an answer",
    "before an acknowledgement",
    "anywhere",
)


def main(directory: str, mark: str, acks: str, point: str, count: str) -> None:
    """Run until killed."""
    _acknowledge_to(os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND), point, int(count))
    _arm(point, int(count))
    asyncio.run(_work(Path(directory), mark))


async def _work(directory: Path, mark: str) -> None:
    async with (
        opened(setup(directory, mark)) as kernel,
        kernel.session(busy(mark), Discard()) as session,
    ):
        await session.run("be busy")


def _arm(point: str, count: int) -> None:
    reached = _countdown(count)
    commit, invoke, fly = LogFile.commit, Calls.invoke, Calls._fly
    if point in ("before a write", "after a write"):

        def committing(self: LogFile, batch: Any) -> None:
            if point == "before a write":
                reached()
            commit(self, batch)
            if point == "after a write":
                reached()

        LogFile.commit = committing  # type: ignore[method-assign]
    elif point in ("before a send", "after an answer"):

        async def invoking(self: Calls, *args: Any) -> Any:
            if point == "before a send":
                reached()
            outcome = await invoke(self, *args)
            if point == "after an answer":
                reached()
            return outcome

        Calls.invoke = invoking  # type: ignore[method-assign, assignment]
    elif point == "after a send":

        async def flying(self: Calls, *args: Any) -> Any:
            reached()
            return await fly(self, *args)

        Calls._fly = flying  # type: ignore[method-assign, assignment]
    elif point == "anywhere":
        threading.Thread(target=_after, args=(count / 1000,), daemon=True).start()


def _acknowledge_to(acks: int, point: str, count: int) -> None:
    """Note the sequence that each sync made durable, as soon as it has returned."""
    sync = EventLog.sync
    reached = _countdown(count)

    async def noted(self: EventLog) -> None:
        durable = self.sequence
        await sync(self)
        if point == "before an acknowledgement":
            reached()
        os.write(acks, durable.to_bytes(8, "big"))

    EventLog.sync = noted  # type: ignore[method-assign]


def _countdown(count: int) -> Callable[[], None]:
    left = count

    def reached() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


def _after(seconds: float) -> None:
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
