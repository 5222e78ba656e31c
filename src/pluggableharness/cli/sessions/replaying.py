"""`harness sessions replay`: a session through the frontends that showed it, without running it."""

import argparse
import asyncio
import sys
from contextlib import closing
from pathlib import Path

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.reporting import reported
from pluggableharness.cli.sessions.telling import RecordedClock, tell, typed_at
from pluggableharness.kernel.frontends.json_lines import JsonLines
from pluggableharness.kernel.frontends.terminal import Terminal

_GATHERED = 64 << 10


def main(options: argparse.Namespace) -> int:
    """Replay the session (K30)."""
    return reported(lambda: asyncio.run(_replay(find_log(options.session), options.json)))


async def _replay(log: Path, as_json: bool) -> int:
    clock = RecordedClock(log)
    if as_json:
        lines = JsonLines(sys.stdout, _GATHERED)
        with closing(lines):
            await tell(log, lines, clock)
        return DONE
    terminal = Terminal(clock=clock, conversation=True)
    with closing(terminal):
        await tell(log, terminal, clock, typed_at(terminal))
    return DONE
