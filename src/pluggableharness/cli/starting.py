"""What `run` and `sessions resume` share: a setup, a frontend, what the end is called outside."""

import argparse
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from functools import partial

from pluggableharness.cli.choosing import named
from pluggableharness.cli.exits import BOUNDED, DENIED, DONE, FAILED
from pluggableharness.cli.kernel_log import log_drawn_by
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.frontends.json_lines import JsonLines
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.models.script import Script, agent_model, script_profiles
from pluggableharness.kernel.models.vendors import VendorModels, model_choice
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.setup import Setup


def with_models(
    directory: str, profile: str, model: str | None, models: VendorModels, recorded: str = ""
) -> Setup:
    """The setup of the project in a directory, for sessions with models of vendors.

    `model` is PROVIDER:ID and takes the place of the profile's own models; None leaves them,
    or those with which a session goes on whose record names the model `recorded` (K30).
    """
    project = configured(working_directory(directory), os.environ, profile)
    own = project.profile.models
    chosen = as_recorded(recorded, own) if model is None else (model_choice(model),)
    return replace(project, profile=replace(project.profile, models=chosen), models=models)


def as_recorded(recorded: str, own: tuple[ModelChoice, ...]) -> tuple[ModelChoice, ...]:
    """The models that go on with a session; `own` are those of its profile."""
    if recorded.partition(":")[0] not in {vendor.value for vendor in Vendor}:
        return own  # a script, or nobody
    return named(recorded, own)


def with_script(script: Script, directory: str, profile: str) -> Setup:
    """The setup of the project in a directory, for the sessions of a script."""
    project = configured(working_directory(directory), os.environ, profile)
    return replace(
        project,
        profiles=(*project.profiles, *script_profiles(script)),
        models=partial(agent_model, script),
    )


def as_asked(options: argparse.Namespace, setup: Setup) -> Setup:
    """The setup with what the command line wants otherwise."""
    return replace(setup, allow_all=options.allow_all, plan_mode=options.plan)


@asynccontextmanager
async def shown(*, as_json: bool) -> AsyncIterator[JsonLines | Terminal]:
    """The frontend of one run, for the length of a block."""
    if as_json:
        with closing(JsonLines(sys.stdout)) as lines:
            yield lines
    else:
        with closing(Terminal()) as terminal, log_drawn_by(terminal.say):
            yield terminal


def follow(frontend: JsonLines | Terminal, session: Session) -> None:
    """Let a terminal say what the session has spent."""
    if isinstance(frontend, Terminal):
        frontend.follow(lambda: (session.bounds, session.spending.of_prompt))


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
