"""`harness sessions show`: the story of a session, prompts included, as a person reads it."""

import argparse
import asyncio
from pathlib import Path

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.reporting import reported
from pluggableharness.cli.sessions.telling import RecordedClock, tell, typed_at
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.store.index import INTERRUPTED, RUNNING, summary

_OPEN = {
    RUNNING: "The session runs; this is what it has recorded so far.",
    INTERRUPTED: "The record ends here: the session was interrupted, and can be resumed.",
}


def main(options: argparse.Namespace) -> int:
    """Show the session."""
    return reported(lambda: asyncio.run(_show(find_log(options.session))))


async def _show(log: Path) -> int:
    clock = RecordedClock(log)
    terminal = Terminal(clock=clock, conversation=True)

    try:
        await tell(log, terminal, clock, typed_at(terminal))
        last = _OPEN.get(summary(log).status)
        if last:
            await terminal.hear(Notice("warning", last))
    finally:
        terminal.close()
    return DONE
