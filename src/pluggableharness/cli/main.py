"""The `harness` command: finds the command's file and lets it parse and run.

Nothing of the kernel is imported before a command is chosen, and only argparse before that:
`harness --help` and completion must answer at once (S5).
"""

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence

from pluggableharness.cli.exits import FAILED, INTERRUPTED, USAGE
from pluggableharness.cli.output import attach_streams, is_of_output, lost_output
from pluggableharness.cli.parsing import Parser
from pluggableharness.version import __version__

COMMANDS = {
    "run": "run a session: a model proposes, you decide, providers do the work",
    "call": "call one operation yourself and see what it streams and returns",
    "init": "write a first agent.hcl that fits the project",
    "config": "check agent.hcl, show what it comes to, or accept changed providers",
    "policy": "explain a decision, or try the rules on a recorded session",
    "tools": "list the operations that the providers offer",
    "sessions": "list, show, replay, resume, verify and export what was recorded",
    "mcp": "serve the gated operations to an MCP client, which starts this",
    "doctor": "say what works on this machine, and what its commands run in",
    "check": "hold any executable against the contract of a provider",
}

_EPILOG = """\
exit codes:
  0 done     1 failed                2 usage, or could not start
  3 denied   4 a bound was reached   130 interrupted

first steps:
  harness tools
  harness call filesystem.read_file path=README.md
  harness call exec.bash command='git status --short'
  harness run --model PROVIDER:ID     a conversation
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code says how it went (K33)."""
    if not attach_streams():
        _complain("standard output is closed; leave it open, or send it to /dev/null")
        return FAILED
    try:
        code = _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as left:
        # argparse leaves so, after it has printed what it was asked for or what is wrong.
        code = left.code if isinstance(left.code, int) else FAILED
    except OSError as error:
        lost = lost_output() or (error if is_of_output(error) else None)
        if lost is None:
            _complain(f"the system refused: {error}")
            return FAILED
        return _unwritten(lost)
    lost = lost_output()
    return code if lost is None else _unwritten(lost)


def _unwritten(error: OSError) -> int:
    # That whoever read our output has left is not a failure of ours to report.
    if not isinstance(error, BrokenPipeError):
        _complain(f"the output could not be written: {error.strerror or error}")
    return FAILED


def _complain(message: str) -> None:
    # Loaded for a failure only: `harness --help` must answer at once (S5).
    importlib.import_module("pluggableharness.cli.complaining").complain(message)


def _main(given: list[str]) -> int:
    chosen = next((word for word in given if not word.startswith("-")), "")
    parser = build_parser(only=chosen if chosen in COMMANDS else None)
    options = parser.parse_args(given)
    if not hasattr(options, "main"):
        parser.print_help()
        return USAGE
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    """Run the command, within which alone an interrupt is an exception."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return int(options.main(options))
    finally:
        signal.signal(signal.SIGINT, before)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser with all commands, the one named `only` complete and the others by name."""
    parser = Parser(
        prog="harness",
        description="An agent harness kernel: checks, gates, runs and records what a model asks.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
        )
        if name == only:
            module = importlib.import_module(f"pluggableharness.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(main=module.main)
    return parser


if __name__ == "__main__":
    sys.exit(main())
