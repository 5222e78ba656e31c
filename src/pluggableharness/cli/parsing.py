"""A parser whose options may stand anywhere, and that guesses what a mistyped word was for.

argparse takes positional words only where they stand together, and its own answer to that,
parse_intermixed_args, does not reach into subcommands. So each parser puts its words in order
before argparse reads them.
"""

import argparse
import importlib
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NoReturn

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


class Folding(argparse.HelpFormatter):
    """Folds paragraphs to the terminal's width; lines that are indented stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        told: list[str] = []
        for kept, lines in groupby(text.splitlines(), lambda line: line[:1] in ("", " ")):
            block = "\n".join(lines)
            told.append(block if kept else super()._fill_text(block, width, indent))
        return "\n".join(told)


class Parser(argparse.ArgumentParser):
    """The parser of `harness` and of each of its commands."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """As argparse's, with texts that fold."""
        super().__init__(*given, **{"formatter_class": Folding, **named})

    def parse_known_args(  # type: ignore[override]  # argparse's takes any class of namespace
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse with the options first; a word that is left over is an error of this command."""
        words = None if args is None else self._in_order(args)
        found, left = super().parse_known_args(words, namespace)
        if left:
            self.error(f"there is no place for {' '.join(map(repr, left))}")
        return found, left

    def _in_order(self, given: Sequence[str]) -> list[str]:
        """Options with their values, then the positional words.

        What follows a command, or belongs to an executable, is for others to put in order.
        """
        options: list[str] = []
        words: list[str] = []
        left = list(given)
        while left:
            if left[0] == "--":
                return [*options, "--", *words, *left[1:]]
            if self._is_option(left[0]):
                taken = self._length(left[0])
                options += left[:taken]
                del left[:taken]
            elif self._passes_on():
                return [*options, *left]
            else:
                words.append(left.pop(0))
        return [*options, *words]

    def _passes_on(self) -> bool:
        ends = (argparse.PARSER, argparse.REMAINDER)
        return any(action.nargs in ends for action in self._actions)

    @staticmethod
    def _is_option(word: str) -> bool:
        name = word.partition("=")[0]
        return len(word) > 1 and word[0] == "-" and " " not in name and not _NUMBER.fullmatch(word)

    def _length(self, word: str) -> int:
        """How many words an option takes, itself included."""
        name, equals, _ = word.partition("=")
        known = self._option_string_actions
        meant = [name] if name in known else [one for one in known if one.startswith(name)]
        if not meant or (not word.startswith("--") and name not in known):
            self._unknown(name, known)
        # Of several that begin so, argparse says itself that it cannot choose.
        return 1 if equals or known[meant[0]].nargs == 0 else 2

    def _unknown(self, name: str, known: Iterable[str]) -> None:
        behind = "; the options of a command stand behind it" if self._subparsers else ""
        self.error(f"there is no option {name} here{behind}{_guess(name, known)}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the usage, safe to look at, and leave."""
        # As in `_guess`.
        told = importlib.import_module("pluggableharness.cli.complaining").told
        super().error(told(message))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help or usage; unlike argparse's own, an error of writing is not kept quiet."""
        (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a command or a choice that does not exist, with the one that is nearest."""
        choices = [] if action.choices is None else [str(one) for one in action.choices]
        if choices and value not in choices:
            what = "command" if action.nargs == argparse.PARSER else "choice"
            raise argparse.ArgumentError(
                None if what == "command" else action,
                f"there is no {what} '{value}'{_guess(str(value), choices)} "
                f"There are: {', '.join(choices)}",
            )


def _guess(word: str, known: Iterable[str]) -> str:
    # Loaded for a mistake only: nothing of the kernel may slow `harness --help` down (S5).
    close = importlib.import_module("pluggableharness.kernel.schema.nearest").close
    # Two letters that change places in a word of four are half of it.
    meant = close(word, [one for one in known if len(one) != 2], wrong=1 / 2)
    return f"; did you mean {meant}?" if meant else "."
