"""`harness run`: a session from a prompt to its end."""

import argparse
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from pluggableharness.cli.exits import BOUNDED, DENIED, DONE, FAILED
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.places import working_directory
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.frontends.json_lines import JsonLines
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.kernel import Setup, opened
from pluggableharness.kernel.models.script import (
    Script,
    ScriptModel,
    agent_model,
    read_script,
    script_profiles,
)

_EPILOG = """\
examples:
  harness run --script fix.yaml
  harness run --script fix.yaml --cwd ~/project --json

Nothing that changes anything runs unless you allow it: at the prompt, or all of it with
--allow-all. Without a terminal there is nobody to ask, and what would be asked is denied.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "--script", metavar="FILE", required=True, help="a YAML file: prompt and messages"
    )
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the session's working directory")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default=DEFAULT_PROFILE.name,
        help="an agent_profile of agent.hcl: what the session may use",
    )
    parser.add_argument(
        "--plan", action="store_true", help="offer nothing that changes anything: look and say"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line; nobody asked")
    parser.add_argument(
        "--allow-all", action="store_true", help="answer every question with yes; denials hold"
    )


def main(options: argparse.Namespace) -> int:
    """Run the session; the exit code tells how it ended."""
    return run_until_done(lambda: _run(options))


async def _run(options: argparse.Namespace) -> int:
    script = read_script(Path(options.script))
    setup = setup_of(script, options.cwd, options.profile, allow_all=options.allow_all)
    setup = replace(setup, plan_mode=options.plan)
    frontend = JsonLines(sys.stdout) if options.json else Terminal()
    try:
        async with (
            opened(setup) as kernel,
            kernel.session(ScriptModel(script), frontend) as session,
        ):
            end = await session.run(script.prompt)
    finally:
        frontend.close()
    return exit_code(end, denied=session.denied)


def setup_of(script: Script, directory: str, profile: str, *, allow_all: bool) -> Setup:
    """The setup of the project in a directory, for the sessions of a script."""
    project = configured(working_directory(directory), os.environ, profile)
    return replace(
        project,
        allow_all=allow_all,
        profiles=(*project.profiles, *script_profiles(script)),
        models=partial(agent_model, script),
    )


def exit_code(end: SessionEnd, *, denied: bool) -> int:
    """What a session's end says to a caller (K33)."""
    match end.status:
        case SessionStatus.COMPLETED:
            return DENIED if denied else DONE
        case (
            SessionStatus.ERROR_MAX_TURNS
            | SessionStatus.ERROR_MAX_BUDGET_USD
            | SessionStatus.ERROR_MAX_WALL_CLOCK
        ):
            return BOUNDED
        case _:
            return FAILED
