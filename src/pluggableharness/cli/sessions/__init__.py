"""`harness sessions`: what was recorded, and going on with it.

Each subcommand is a file of its own, imported only when it is chosen: a list needs neither
rich nor gRPC, and must not wait for them.
"""

import argparse
import importlib

from pluggableharness.cli.numbers import count

_ID = "a session's id, the beginning of one that no other has, or a log's path"

_EPILOG = """\
examples:
  harness sessions list
  harness sessions show 01K
  harness sessions verify 01KBA5 --head 3f2a…
  harness sessions resume 01KBA5 "and now the tests"
  harness sessions export 01KBA5 --format markdown
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="subcommand", required=True
    )
    _add_list(
        commands.add_parser(
            "list",
            help="all sessions, the newest last",
            description="One line a session: id, start, status, cost, prompt.",
        )
    )
    show = commands.add_parser(
        "show",
        help="a session as a person reads it",
        description="Print a session with its prompts; nothing is run.",
    )
    show.add_argument("session", metavar="ID", help=_ID)
    show.set_defaults(module="showing")
    replay = commands.add_parser(
        "replay",
        help="a session as it was watched; nothing is run",
        description="Show or print what the session showed.",
    )
    replay.add_argument("session", metavar="ID", help=_ID)
    replay.add_argument("--json", action="store_true", help="one JSON object a line, as from run")
    replay.set_defaults(module="replaying")
    _add_resume(
        commands.add_parser(
            "resume",
            help="go on with a session",
            description="Go on where it stopped, or with a new prompt, in its own directory.",
        )
    )
    verify = commands.add_parser(
        "verify",
        help="whether a record is as it was written",
        description="Check the chain of hashes over every row.",
    )
    verify.add_argument("session", metavar="ID", help=_ID)
    verify.add_argument("--head", metavar="HASH", help="the head that the session's end printed")
    verify.set_defaults(module="verifying")
    _add_export(
        commands.add_parser(
            "export",
            help="a record in a form for others",
            description="Print every row as JSON, or the story as Markdown.",
        )
    )


def main(options: argparse.Namespace) -> int:
    """Run the subcommand."""
    module = importlib.import_module(f"{__name__}.{options.module}")
    return int(module.main(options))


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--limit", type=count, metavar="N", help="the N newest only")
    parser.set_defaults(module="listing")


def _add_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="ID", help=_ID)
    parser.add_argument(
        "prompt",
        nargs="?",
        help="a new prompt; without one a conversation goes on in a terminal, and elsewhere what "
        "was cut short",
    )
    parser.add_argument(
        "--model", metavar="PROVIDER:ID", help="the model, instead of the one that the record names"
    )
    parser.add_argument(
        "--script",
        metavar="FILE",
        help="instead of a model: the session's script, which goes on where it stopped; or one "
        "for the prompt, played from its start",
    )
    parser.add_argument(
        "--plan", action="store_true", help="offer nothing that changes anything: look and say"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line; nobody asked")
    parser.add_argument(
        "--allow-all", action="store_true", help="answer every question with yes; denials hold"
    )
    parser.set_defaults(module="resuming")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="ID", help=_ID)
    parser.add_argument(
        "--format",
        choices=("jsonl", "markdown"),
        default="jsonl",
        help="every row as a line of JSON, or the story as Markdown",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="a file; exporting rows again brings it up to date"
    )
    parser.set_defaults(module="exporting")
