"""Which command lines run git where a repository says what else git is to run (K7).

`git status` reads `.git/config`, which whoever could write there has a say in. Asked about the
places where the commands of a call may run, so far as its arguments and its words tell.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from posixpath import join, normpath
from typing import Final

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.git.keys import digest
from pluggableharness.kernel.git.repository import Use, git_runs
from pluggableharness.kernel.policy import Command, shell_view
from pluggableharness.kernel.policy.shell.words import names
from pluggableharness.kernel.policy.subjects import paths, words_run

_MOST_PLACES: Final = 32
_MOST_TOLD: Final = 5
_READERS: Final = names(
    "status log diff show blame annotate shortlog describe grep ls-files ls-tree rev-parse "
    "rev-list cat-file merge-base name-rev count-objects diff-tree diff-files diff-index "
    "for-each-ref show-ref whatchanged cherry range-diff check-ignore check-attr var"
)
"""Subcommands that change no ref, no file and no other repository."""

_LOCAL: Final = names("add branch tag reset rm mv")
"""Those that change the index or refs, and run no hook but the one of refs."""


def distrust(call: Call, confined: frozenset[str]) -> str:
    """Why a call's command line is not taken at its word; "" when it is. The same words mean that
    git is made to run the same (K10a).

    Looks at the repositories that its commands would work in. `confined` are providers whose
    commands are known to be held in a sandbox without a network, where what a configuration runs
    can do no more than any other command.
    """
    line = words_run(call) if call.operation.kind is Kind.RESOURCE else None
    if line is None or call.operation.provider in confined:
        return ""
    view = shell_view(line)
    gits = [one for one in view.commands if _is_git(one)]
    if not gits:
        return ""
    if "" in view.moves:
        return "git is run in a place that the command does not name"
    use = _use({_subcommand(one) for one in gits})
    places = _places(call, view.moves)
    if len(places) > _MOST_PLACES:
        return "git may be run in too many places"
    # Most places lie in the one repository; within it the order counts, since git takes the last.
    each = dict.fromkeys(tuple(git_runs(Path(place), use)) for place in places)
    pushes = dict.fromkeys(one for place in places for one in _pushes_here(place, gits))
    return _told([*(one for some in each for one in some), *pushes])


def _told(found: list[str]) -> str:
    """The first of what was found, and of the others what tells them from any else."""
    if len(found) <= _MOST_TOLD:
        return "; ".join(found)
    shown, others = found[:_MOST_TOLD], found[_MOST_TOLD:]
    return "; ".join([*shown, f"and {len(others)} more ({digest(' '.join(others))})"])


def _is_git(command: Command) -> bool:
    name = command.program.rpartition("/")[2]
    return name == "git" or name.startswith("git-")


def _subcommand(command: Command) -> str:
    return next((word for word in command.argv[1:] if not word.startswith("-")), "")


def _use(subcommands: set[str]) -> Use:
    if subcommands <= _READERS:
        return Use.READING
    return Use.LOCAL if subcommands <= _READERS | _LOCAL else Use.ANYTHING


def _places(call: Call, moves: tuple[str, ...]) -> list[str]:
    """Where the commands of a call may run: any of its paths may be its working directory, and
    any of the changes of directory may have come to pass."""
    here = call.context.working_directory
    found = dict.fromkeys([here, *(join(here, path) for path in paths(call))])
    for move in moves:
        if len(found) > _MOST_PLACES:
            break
        # A shell goes by the text of `a/..`, the system by where `a` leads.
        for place in list(found):
            found |= dict.fromkeys([join(place, move), normpath(join(place, move))])
    return list(found)


def _pushes_here(place: str, gits: list[Command]) -> Iterator[str]:
    """Where the commands push to a repository on this machine, whose hooks run."""
    for command in gits:
        if "push" in command.argv:
            for word in command.argv[2:]:
                if word.startswith("file:") or os.path.isdir(join(place, word)):
                    yield f"git pushes to {word}, whose hooks run here"
