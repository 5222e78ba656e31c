"""`harness policy`: why a call is judged as it is, what rules would make of old calls (F11), and
which rules of "always" hold here (K10)."""

import argparse
import importlib

_EPILOG = """\
examples:
  harness policy explain exec.bash command='git status'
  harness policy explain filesystem.write_file --args @edit.json
  harness policy test --session 01K
  harness policy accept

explain shows every rule, whether it matched, and which one won. test decides every call of a
recorded session again, runs nothing, and ends with 1 when any would be judged otherwise. accept
shows the rules of .agent/granted.hcl that nobody gave on this machine, and asks whether to let
them hold; 3 means no.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    explain = commands.add_parser(
        "explain",
        help="why a call is allowed, asked about or denied",
        description="Say how a call would be judged: every rule, whether it matches and why, "
        "and the one that wins. Nothing is run.",
    )
    explain.add_argument("operation", metavar="PROVIDER.OPERATION")
    explain.add_argument("pairs", nargs="*", default=[], metavar="NAME=VALUE", help="an argument")
    explain.add_argument(
        "--args", metavar="JSON|@FILE|-", help="arguments as a JSON object, from a file or stdin"
    )
    explain.set_defaults(module="explaining")
    test = commands.add_parser(
        "test",
        help="what would differ in a recorded session",
        description="Decide every call of a recorded session again by the present rules, and "
        "print those judged otherwise; then the exit code is 1. Nothing is run.",
    )
    test.add_argument(
        "--session", metavar="ID", required=True, help="its id, a beginning of it, or a log's path"
    )
    test.set_defaults(module="testing")
    accept = commands.add_parser(
        "accept",
        help="take over rules of 'always' that came with a clone, or were edited",
        description="Show the rules of .agent/granted.hcl that were not given on this machine as "
        "they stand there, and ask whether to let them hold.",
    )
    accept.set_defaults(module="accepting")
    for command in (explain, test, accept):
        command.add_argument("--cwd", metavar="DIR", default=".", help="the project's directory")


def main(options: argparse.Namespace) -> int:
    """Run the subcommand, of which only the chosen one is imported."""
    return int(importlib.import_module(f"{__name__}.{options.module}").main(options))
