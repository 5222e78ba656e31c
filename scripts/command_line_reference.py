"""The page docs/reference/command-line.md, from what `--help` of every command prints."""

import argparse
import os
from collections.abc import Iterator
from unittest import mock

from pluggableharness.cli import slash_commands
from pluggableharness.cli.main import COMMANDS, build_parser

_HEAD = """\
# The command line

What `--help` prints of each command, on a terminal of 80 columns. Options may stand anywhere
behind their command. Written by `scripts/references.py`.
"""

_CONVERSATION = """\
## In a conversation

| line | what it does |
| --- | --- |
"""


def page() -> str:
    """The page."""
    with mock.patch.dict(os.environ, COLUMNS="80"):
        helps = [("harness", build_parser()), *_commands()]
        shown = [f"## {name}\n\n```text\n{parser.format_help()}```\n" for name, parser in helps]
    return "\n".join([_HEAD, *shown, _CONVERSATION + "".join(_lines())])


def _commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name in COMMANDS:
        yield from _with_its_own(f"harness {name}", _below(build_parser(only=name))[name])


def _with_its_own(
    name: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield name, parser
    for below, command in _below(parser).items():
        yield from _with_its_own(f"{name} {below}", command)


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser, by name."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(action.choices)
    return found


def _lines() -> Iterator[str]:
    for name, (takes, about) in slash_commands.COMMANDS.items():
        yield f"| `{f'{name} {takes}'.rstrip()}` | {about} |\n"
