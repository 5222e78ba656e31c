"""Options by which a program is found to do more than its name says."""

from collections.abc import Iterable
from dataclasses import dataclass

from pluggableharness.kernel.policy.shell.words import Word


def names(text: str) -> frozenset[str]:
    """The words of a text: long sets of names are read more easily as prose."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a program.

    `letters` count wherever they stand in a cluster after one dash, `long` ones also where they
    are shortened, `exact` ones as they are.
    """

    letters: str = ""
    long: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()


def forbidden_option(options: Options, words: Iterable[Word]) -> str | None:
    """The first of the words that is one of the options; None when none is."""
    for word in words:
        name = word.value.partition("=")[0]
        if name.startswith("--"):
            if len(name) > 2 and any(one.startswith(name) for one in options.long):
                return name
        elif name in (*options.exact, *options.long) or _clustered(options.letters, name):
            return name
    return None


def _clustered(letters: str, name: str) -> bool:
    return name.startswith("-") and any(letter in letters for letter in name[1:])
