"""`harness call`: one operation, by a person's own hand (K4)."""

import argparse
import asyncio
import os
import shlex
import sys
from pathlib import Path

from pluggableharness.cli.arguments import read_arguments
from pluggableharness.cli.exits import DENIED, DONE, FAILED
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.outcome import Failure, Outcome
from pluggableharness.kernel.frontends.call_output import CallOutput
from pluggableharness.kernel.frontends.json_lines import CallLines
from pluggableharness.kernel.kernel import Kernel, opened_for_one_call

_EPILOG = """\
examples:
  harness call filesystem.read_file path=README.md end_line=5
  harness call exec.bash command='make test' --timeout 600
  harness call filesystem.write_file --args @edit.json --preview
  harness call hello.greet name=Ada --provider ./my_provider.py
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("operation", metavar="PROVIDER.OPERATION")
    parser.add_argument(
        "pairs", nargs="*", metavar="NAME=VALUE", help="an argument, read by the schema's type"
    )
    parser.add_argument(
        "--args", metavar="JSON|@FILE|-", help="arguments as a JSON object, from a file or stdin"
    )
    parser.add_argument(
        "--provider",
        metavar="EXECUTABLE",
        help="run this provider instead of a first-party one; a command line is split as a shell would",
    )
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the call's working directory")
    parser.add_argument("--timeout", metavar="S", type=float, help="deadline in seconds")
    parser.add_argument(
        "--preview", action="store_true", help="show what the call would do, and do nothing"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def main(options: argparse.Namespace) -> int:
    """Make the call; the exit code tells how it ended."""
    return run_until_done(lambda: _call(options))


async def _call(options: argparse.Namespace) -> int:
    provider, dot, _ = options.operation.partition(".")
    if not dot:
        raise UsageError(
            f"'{options.operation}' is not PROVIDER.OPERATION; `harness tools` lists them"
        )
    setup = Setup(
        working_directory=working_directory(options.cwd),
        providers=(_spec(provider, options.provider),),
        timeout_s=options.timeout,
    )
    frontend = CallLines(sys.stdout) if options.json else CallOutput()
    async with opened(setup) as kernel:
        operation = await kernel.operation(options.operation)
        arguments = read_arguments(operation, options.pairs, options.args)
        if options.preview:
            return show_preview(await kernel.preview(options.operation, arguments), options.json)
        outcome = await kernel.call(options.operation, arguments, frontend)
    return _exit_code(outcome)
