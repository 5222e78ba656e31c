"""`harness run`: a session from a prompt to its end, or a conversation."""

import argparse
import os
import sys
from pathlib import Path

from pluggableharness.cli.conversing import converse
from pluggableharness.cli.interrupts import meanwhile, run_until_done
from pluggableharness.cli.prompting import at_terminal, read_prompt, with_piped
from pluggableharness.cli.session_options import add_session_options
from pluggableharness.cli.sessions.resuming import resume
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
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.models.script import ScriptModel, read_script
from pluggableharness.kernel.models.vendors import VENDORS, vendor_models
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.turn.ports import Model

_EPILOG = """\
examples:
  harness run --model anthropic:claude-sonnet-5-5     a conversation
  harness run "mend the failing test"                 one prompt, to its end
  git diff | harness run --plan "review what I pipe in"
  harness run --resume 01K
  harness run --script fix.yaml --json

Without --model it is that of agent.hcl, and with --resume the one that the record names. Keys
come from the environment, such as ANTHROPIC_API_KEY or OPENAI_API_KEY; the address of a
compatible service from OPENAI_BASE_URL.

What a pipe or a file on standard input holds is sent behind the PROMPT, in <stdin>. From a pipe
something must come within 2 s; otherwise only the PROMPT is sent, and a notice says so.

Nothing that changes anything runs unless you allow it: at the prompt, or all of it with
--allow-all. Without a terminal there is nobody to ask, and what would be asked is denied.
In a conversation Ctrl-C stops what runs, Ctrl-D leaves, and /help says what else there is.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "prompt",
        metavar="PROMPT",
        nargs="?",
        help="what is to be done; without one a conversation begins in a terminal, and "
        "elsewhere standard input is the prompt; with one, what is piped in goes with it",
    )
    parser.add_argument(
        "--model",
        metavar="PROVIDER:ID",
        help="the model, instead of the profile's, or of the recorded one with --resume; "
        "providers: " + VENDORS,
    )
    parser.add_argument(
        "--script", metavar="FILE", help="instead of a model: a YAML file, prompt and messages"
    )
    parser.add_argument(
        "--resume", metavar="ID", help="go on with a recorded session, in its own directory"
    )
    parser.add_argument("--cwd", metavar="DIR", help="the session's working directory")
    parser.add_argument(
        "--profile", metavar="NAME", help="an agent_profile of agent.hcl: what the session may use"
    )
    add_session_options(parser)


def main(options: argparse.Namespace) -> int:
    """Run the session; the exit code tells how it ended."""
    return run_until_done(lambda: _run(options))


async def _run(options: argparse.Namespace) -> int:
    if options.script is not None and options.model is not None:
        raise UsageError("--script plays its own messages; leave --model out")
    if options.resume is not None:
        if options.cwd is not None or options.profile is not None:
            raise UsageError(
                "--resume goes on where the session was; leave --cwd and --profile out"
            )
        return await resume(options.resume, options)
    directory, profile = options.cwd or ".", options.profile or DEFAULT_PROFILE.name
    if options.script is not None:
        script = read_script(Path(options.script))
        setup = with_script(script, directory, profile)
        return await _session(options, setup, ScriptModel(script), options.prompt or script.prompt)
    prompt = options.prompt
    if not prompt and (options.json or not at_terminal()):
        prompt = await read_prompt(sys.stdin)
    elif prompt:
        prompt = await with_piped(prompt, sys.stdin)
    async with vendor_models(os.environ) as models:
        setup = with_models(directory, profile, options.model, models)
        if not prompt:
            return await converse(as_asked(options, setup), models)
        model = models(setup.profile)
        async with meanwhile(model.prepare()):
            return await _session(options, setup, model, prompt)


async def _session(options: argparse.Namespace, setup: Setup, model: Model, prompt: str) -> int:
    async with (
        shown(as_json=options.json) as frontend,
        opened(as_asked(options, setup)) as kernel,
        kernel.session(model, frontend) as session,
    ):
        follow(frontend, session)
        end = await session.run(prompt)
    return exit_code(end, denied=session.denied)
