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
from pluggableharness.kernel.domain.errors import UsageError
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
from pluggableharness.kernel.models.vendors import (
    VENDORS,
    VendorModels,
    model_choice,
    vendor_models,
)
from pluggableharness.kernel.turn.ports import Model

_EPILOG = """\
examples:
  harness run "mend the failing test" --model anthropic:claude-sonnet-4-5
  harness run "what is this?" --plan --model openai-compatible:qwen3
  harness run --script fix.yaml --cwd ~/project --json

Nothing that changes anything runs unless you allow it: at the prompt, or all of it with
--allow-all. Without a terminal there is nobody to ask, and what would be asked is denied.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help="what is to be done")
    parser.add_argument(
        "--model",
        metavar="PROVIDER:ID",
        help="the model, instead of the profile's; providers: " + VENDORS,
    )
    parser.add_argument(
        "--script", metavar="FILE", help="instead of a model: a YAML file, prompt and messages"
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
    if options.script is not None:
        if options.model is not None:
            raise UsageError("--script plays its own messages; leave --model out")
        script = read_script(Path(options.script))
        setup = setup_of(script, options.cwd, options.profile, allow_all=options.allow_all)
        return await _session(options, setup, ScriptModel(script), options.prompt or script.prompt)
    if not options.prompt:
        raise UsageError("what is to be done? Give a PROMPT, or --script FILE")
    async with vendor_models(os.environ) as models:
        setup = with_models(options.cwd, options.profile, options.model, models)
        setup = replace(setup, allow_all=options.allow_all)
        return await _session(options, setup, models(setup.profile), options.prompt)


async def _session(options: argparse.Namespace, setup: Setup, model: Model, prompt: str) -> int:
    frontend = JsonLines(sys.stdout) if options.json else Terminal()
    try:
        async with (
            opened(replace(setup, plan_mode=options.plan)) as kernel,
            kernel.session(model, frontend) as session,
        ):
            end = await session.run(prompt)
    finally:
        frontend.close()
    return exit_code(end, denied=session.denied)


def with_models(directory: str, profile: str, model: str | None, models: VendorModels) -> Setup:
    """The setup of the project in a directory, for sessions with models of vendors.

    `model` is PROVIDER:ID and takes the place of the profile's own models; None leaves them.
    """
    project = configured(working_directory(directory), os.environ, profile)
    if model is not None:
        chosen = replace(project.profile, models=(model_choice(model),))
        project = replace(project, profile=chosen)
    return replace(project, models=models)


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
