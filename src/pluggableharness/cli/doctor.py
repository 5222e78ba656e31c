"""`harness doctor`: what this machine can do for a project, and what is missing (C7, C14)."""

import argparse
import os
import platform
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from enum import Enum

import msgspec

from pluggableharness.cli.complaining import told
from pluggableharness.cli.exits import DONE, FAILED
from pluggableharness.cli.hanging import hanging
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.location import sessions_directory
from pluggableharness.providers.exec.sandbox import Mechanism, Mode, ability, chosen, mechanism
from pluggableharness.providers.search.ripgrep import installed
from pluggableharness.sdk import ToolFailure
from pluggableharness.version import __version__

_EPILOG = """\
examples:
  harness doctor
  harness doctor --json

Changes nothing. The exit code is 1 when something does not work.
"""


class Health(Enum):
    """How something is."""

    GOOD = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what there is to say of it."""

    name: str
    health: Health
    said: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("--json", action="store_true", help="one JSON list")
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the project's directory")


def main(options: argparse.Namespace) -> int:
    """Look at everything; 1 when something is broken."""
    return run_until_done(lambda: _doctor(options))


async def _doctor(options: argparse.Namespace) -> int:
    directory = working_directory(options.cwd)
    findings = [*_machine(), _ripgrep(), _records()]
    try:
        setup = configured(directory, os.environ)
    except HarnessError as error:
        findings.append(Finding("configuration", Health.BROKEN, str(error)))
    else:
        findings += [*_sandbox(setup), *[one async for one in _providers(setup)]]
    sys.stdout.write(_as_json(findings) if options.json else _as_text(findings))
    return FAILED if any(one.health is Health.BROKEN for one in findings) else DONE


def _machine() -> Iterator[Finding]:
    yield Finding("harness", Health.GOOD, __version__)
    python = f"{platform.python_version()} ({sys.executable})"
    yield Finding("python", Health.GOOD, python)
    yield Finding("system", Health.GOOD, f"{platform.system()} {platform.release()}")
    confined = isinstance(mechanism(), Mechanism)
    yield Finding("confinement", Health.GOOD if confined else Health.WARNING, ability())


def _ripgrep() -> Finding:
    try:
        found = installed()
        return Finding("ripgrep", Health.GOOD, f"{found.version} ({found.path})")
    except (ToolFailure, OSError) as error:
        return Finding("ripgrep", Health.BROKEN, str(error))


def _records() -> Finding:
    try:
        folder = sessions_directory(os.environ)
    except HarnessError as error:
        return Finding("records", Health.BROKEN, str(error))
    above = next(one for one in (folder, *folder.parents) if one.exists())
    if os.access(above, os.W_OK | os.X_OK):
        return Finding("records", Health.GOOD, str(folder))
    said = f"{folder} cannot be written to. Set XDG_STATE_HOME to a directory of yours"
    return Finding("records", Health.BROKEN, said)


def _sandbox(setup: Setup) -> Iterator[Finding]:
    """What commands of this project run in, by the settings of its exec provider, and what it
    keeps them from."""
    spec = next((one for one in setup.providers if one.name == "exec"), None)
    if spec is None:
        yield Finding("sandbox", Health.GOOD, "no commands are run: provider exec is not used")
        return
    asked, roots = spec.config.get("sandbox"), spec.config.get("roots")
    try:
        sandbox = chosen(
            asked if isinstance(asked, str) else None,
            [str(root) for root in roots] if isinstance(roots, list | tuple) else [],
            network=spec.config.get("network") is True,
        )
    except ValueError as error:
        yield Finding("sandbox", Health.BROKEN, str(error))
        return
    health = Health.WARNING if sandbox.mode is Mode.NONE else Health.GOOD
    yield Finding("sandbox", health, f"commands run {sandbox.says()}")
    kept = Health.GOOD if sandbox.holds_at_all_times else Health.WARNING
    yield Finding("rules and hooks", kept, f"held by {sandbox.holds()}")


async def _providers(setup: Setup) -> AsyncIterator[Finding]:
    """Start them, each by itself so that one that fails hides no other."""
    for name, reason in setup.absent.items():
        yield Finding(f"provider {name}", Health.BROKEN, reason)
    for spec in setup.providers:
        alone = Setup(setup.working_directory, providers=(spec,))
        try:
            async with opened(alone) as kernel:
                names = [one.name for one in await kernel.operations()]
        except HarnessError as error:
            yield Finding(f"provider {spec.name}", Health.BROKEN, str(error))
        else:
            yield Finding(f"provider {spec.name}", Health.GOOD, ", ".join(names) or "nothing")


def _as_text(findings: list[Finding]) -> str:
    width = max(len(one.name) for one in findings)
    return "".join(
        hanging(told(f"{one.health.value:<8} {one.name:<{width}}  "), told(one.said)) + "\n"
        for one in findings
    )


def _as_json(findings: list[Finding]) -> str:
    listed = [{**asdict(one), "health": one.health.value} for one in findings]
    return msgspec.json.format(msgspec.json.encode(listed)).decode() + "\n"
