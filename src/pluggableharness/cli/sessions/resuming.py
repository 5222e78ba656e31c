"""`harness sessions resume`: go on with a session, with its budgets as they were spent (K30)."""

import argparse
import sys
from pathlib import Path

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.run import exit_code, setup_of
from pluggableharness.cli.sessions.finding import find_log
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.frontends.json_lines import JsonLines
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.models.afresh import Afresh
from pluggableharness.kernel.models.script import ScriptModel, read_script
from pluggableharness.kernel.store.index import summary
from pluggableharness.kernel.store.reading import read_meta


def main(options: argparse.Namespace) -> int:
    """Resume the session; the exit code tells how it ended, as that of run does."""
    return run_until_done(lambda: _resume(options))


async def _resume(options: argparse.Namespace) -> int:
    log = find_log(options.session)
    script = read_script(Path(options.script))
    if options.prompt is None and summary(log).status == SessionStatus.COMPLETED.value:
        print(
            "nothing left to do: the session is complete. Give a prompt to go on", file=sys.stderr
        )
        return DONE
    meta = read_meta(log)
    directory, profile = meta.get("working_directory", "."), meta.get("profile")
    setup = setup_of(
        script, directory, profile or DEFAULT_PROFILE.name, allow_all=options.allow_all
    )

    def model(before: RecordedSession) -> ScriptModel | Afresh:
        played = ScriptModel(script)
        if options.prompt is None:
            return played
        return Afresh(played, len(before.history) + (2 if before.left else 0))

    frontend = JsonLines(sys.stdout) if options.json else Terminal()
    try:
        async with (
            opened(setup) as kernel,
            kernel.resumed(log, model, frontend) as (session, before),
        ):
            end = await session.resume(before, options.prompt)
    finally:
        frontend.close()
    return exit_code(end, denied=session.denied)
