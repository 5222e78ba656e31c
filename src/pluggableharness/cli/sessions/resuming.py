"""`harness sessions resume`: go on with a session, with its budgets as they were spent (K30)."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from pluggableharness.cli.conversing import converse
from pluggableharness.cli.exits import DONE
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.interrupts import meanwhile, run_until_done
from pluggableharness.cli.prompting import at_terminal, piped_prompt, with_piped
from pluggableharness.cli.starting import (
    as_asked,
    exit_code,
    follow,
    shown,
    with_models,
    with_script,
)
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.models.afresh import Afresh
from pluggableharness.kernel.models.script import ScriptModel, read_script
from pluggableharness.kernel.models.vendors import vendor_models
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.descent import check_root
from pluggableharness.kernel.store.index import summary
from pluggableharness.kernel.store.reading import read_meta
from pluggableharness.kernel.turn.ports import Model

_PLAYED = (
    "a script played this session: go on with it by --script FILE, or with a model by "
    "--model PROVIDER:ID"
)


def main(options: argparse.Namespace) -> int:
    """Resume the session; the exit code tells how it ended, as that of run does."""
    return run_until_done(lambda: resume(options.session, options))


async def resume(session: str, options: argparse.Namespace) -> int:
    """Go on with a session: by a script, to the end of a prompt, or in conversation."""
    log = find_log(session)
    check_root(log)
    meta = read_meta(log)
    directory = meta.get("working_directory", ".")
    if not os.path.isdir(directory):
        raise UsageError(
            f"session {log.stem} worked in {in_quotes(directory)}, which is gone. Put it back to "
            f"go on there; or read it: harness sessions show {log.stem}"
        )
    profile = meta.get("profile") or DEFAULT_PROFILE.name
    if options.script is not None:
        script = read_script(Path(options.script))

        def played(before: RecordedSession) -> ScriptModel | Afresh:
            model = ScriptModel(script)
            if options.prompt is None:
                return model
            return Afresh(model, len(before.history) + (2 if before.left else 0))

        return await _to_its_end(options, log, with_script(script, directory, profile), played)
    talks = options.prompt is None and not options.json and at_terminal()
    if options.prompt is None and not talks:
        options.prompt = await piped_prompt(sys.stdin)
    elif options.prompt is not None:
        options.prompt = await with_piped(options.prompt, sys.stdin)
    async with vendor_models(os.environ) as models:
        setup = with_models(directory, profile, options.model, models, meta.get("model", ""))
        if not setup.profile.models and meta.get("model") == "script":
            raise UsageError(_PLAYED)
        if talks:
            return await converse(as_asked(options, setup), models, log)
        model = models(setup.profile)
        async with meanwhile(model.prepare()):
            return await _to_its_end(options, log, setup, lambda before: model)


async def _to_its_end(
    options: argparse.Namespace,
    log: Path,
    setup: Setup,
    model: Callable[[RecordedSession], Model],
) -> int:
    if options.prompt is None and summary(log).status == SessionStatus.COMPLETED.value:
        print(
            "nothing left to do: the session is complete. Give a prompt to go on", file=sys.stderr
        )
        return DONE
    async with (
        shown(as_json=options.json) as frontend,
        opened(as_asked(options, setup)) as kernel,
        kernel.resumed(log, model, frontend) as (session, before),
    ):
        follow(frontend, session)
        end = await session.resume(before, options.prompt)
    return exit_code(end, denied=session.denied)
