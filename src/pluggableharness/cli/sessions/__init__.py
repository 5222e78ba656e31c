"""`harness sessions`: what was recorded, and going on with it.

Each subcommand is a file of its own, imported only when it is chosen: a list needs neither
rich nor gRPC, and must not wait for them.
"""

import argparse
import importlib

from pluggableharness.cli.numbers import count, head
from pluggableharness.cli.session_options import add_session_options

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

    def command(name: str, module: str, summary: str, told: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=told)
        added.set_defaults(module=module)
        if name != "list":
            added.add_argument("session", metavar="ID", help=_ID)
        return added

    listed = command(
        "list",
        "listing",
        "the sessions of this project, the newest last",
        "One line a session that was begun in this project, by a prompt or another agent: the "
        "beginning of its id, start, status, cost, prompt.",
    )
    listed.add_argument(
        "--all",
        action="store_true",
        help="those of every folder, and with them calls by hand and sub-agents",
    )
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    listed.add_argument("--limit", type=count, metavar="N", help="the N newest only")
    command(
        "show",
        "showing",
        "a session as a person reads it",
        "Print a session with its prompts; nothing is run.",
    )
    replay = command(
        "replay",
        "replaying",
        "a session as it was watched; nothing is run",
        "Show or print what the session showed.",
    )
    replay.add_argument("--json", action="store_true", help="one JSON object a line, as from run")
    _add_resuming(
        command(
            "resume",
            "resuming",
            "go on with a session",
            "Go on where it stopped, or with a new prompt, in its own directory.",
        )
    )
    verify = command(
        "verify",
        "verifying",
        "whether a record is as it was written",
        "Check the chain of hashes over every row.",
    )
    verify.add_argument(
        "--head", type=head, metavar="HASH", help="the head that the session's end printed"
    )
    _add_exporting(
        command(
            "export",
            "exporting",
            "a record in a form for others",
            "Print every row as JSON, or the story as Markdown.",
        )
    )


def main(options: argparse.Namespace) -> int:
    """Run the subcommand."""
    module = importlib.import_module(f"{__name__}.{options.module}")
    return int(module.main(options))


def _add_resuming(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "prompt",
        metavar="PROMPT",
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
    add_session_options(parser)


def _add_exporting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=("jsonl", "markdown"),
        default="jsonl",
        help="every row as a line of JSON, or the story as Markdown",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="a file; exporting rows again brings it up to date"
    )
