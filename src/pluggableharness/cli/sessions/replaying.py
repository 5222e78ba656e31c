"""`harness sessions replay`: a session through the frontends that showed it, without running it."""

import argparse
import asyncio
import sys
from pathlib import Path

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.sessions.finding import find_log
from pluggableharness.cli.sessions.reporting import reported
from pluggableharness.cli.sessions.telling import RecordedClock, tell
from pluggableharness.kernel.frontends.json_lines import JsonLines
from pluggableharness.kernel.frontends.terminal import Terminal

_GATHERED = 64 << 10


def main(options: argparse.Namespace) -> int:
    """Replay the session (K30)."""
    return reported(lambda: asyncio.run(_replay(find_log(options.session), options.json)))


async def _replay(log: Path, as_json: bool) -> int:
    clock = RecordedClock(log)
    frontend = (
        JsonLines(sys.stdout, _GATHERED) if as_json else Terminal(clock=clock, conversation=True)
    )
    try:
        await tell(log, frontend, clock)
    finally:
        frontend.close()
    return DONE
