"""`harness config`: is agent.hcl right, and what does it come to (F11)."""

import argparse
import importlib
import os
import sys
from pathlib import Path

from pluggableharness.cli.complaining import complain, told
from pluggableharness.cli.exits import DONE, USAGE
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.config.config import Config
from pluggableharness.kernel.config.finding import FILE_NAME, find
from pluggableharness.kernel.config.identity import not_there
from pluggableharness.kernel.config.known import built_in
from pluggableharness.kernel.config.project import file_config, shown_path
from pluggableharness.kernel.config.show import shown
from pluggableharness.kernel.domain.errors import UsageError

_EPILOG = """\
examples:
  harness config check
  harness config check other/agent.hcl
  harness config show
  harness config accept

check starts nothing and changes nothing, and is quick enough for an editor or a commit hook.
show prints what takes effect, with secrets as env("NAME").
accept starts the providers and pins them as they are now, after showing what has changed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=("check", "show", "accept"), help="what to do")
    parser.add_argument("file", nargs="?", metavar="FILE", help="instead of the project's")
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the project's directory")


def main(options: argparse.Namespace) -> int:
    """Check, show or accept; 2 when the file cannot be used."""
    try:
        directory = working_directory(options.cwd)
        path = _path(options.file, directory)
        config = file_config(path, directory, os.environ)
    except UsageError as error:
        print(told(str(error)), file=sys.stderr)
        return USAGE
    for warning in config.warnings:
        complain(warning, kind="warning")
    match options.action:
        case "accept":
            # Starting providers takes imports that the other two are too quick for (S5).
            accepting = importlib.import_module(f"{__name__}.accepting")
            return int(accepting.accept(config, directory))
        case "show":
            sys.stdout.write(shown(config, built_in()))
        case _:
            for reason in not_there(config):
                complain(reason, kind="warning")
            print(f"{shown_path(path)}: {_counted(config)}")
    return DONE


def _path(given: str | None, directory: Path) -> Path:
    path = directory / given if given else find(directory)
    if path is None:
        raise UsageError(
            f"there is no {FILE_NAME} here: everything has its default. `harness init` writes one"
        )
    return path


def _counted(config: Config) -> str:
    counts = (
        (len(config.providers), "provider"),
        (len(config.rules), "policy rule"),
        (len(config.profiles), "profile"),
        (len(config.hooks), "hook"),
    )
    words = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts if count]
    return "in order: " + (", ".join(words) or "nothing is set")
