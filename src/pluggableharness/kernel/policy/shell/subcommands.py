"""Which first words say what a program does, whatever stands behind them (K10). Data alone.

Not every first word is such a one: behind `rm` stands a file, behind `gh pr` the word that counts.
Named are programs of which it is known by which options they run what is not shown, or work in
another folder. What is missing here is offered as exactly the command that was asked about.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pluggableharness.kernel.policy.shell.words import names

_PLAIN: Final = re.compile(r"[a-z][a-z0-9:_-]*")
_PACKAGES: Final = names("test start stop restart install ci ls list outdated")

_SUBCOMMANDS: Final[Mapping[str, frozenset[str]]] = {
    "git": names(
        "status log diff show blame annotate shortlog describe grep ls-files ls-tree rev-parse "
        "rev-list cat-file merge-base name-rev count-objects diff-tree for-each-ref show-ref "
        "cherry range-diff check-ignore check-attr add branch tag reset rm mv commit switch "
        "checkout restore merge rebase cherry-pick revert fetch pull push clean"
    ),
    "npm": _PACKAGES,
    "pnpm": _PACKAGES,
    "yarn": _PACKAGES,
    "cargo": names("build check test clippy fmt doc bench clean tree metadata fetch"),
    "go": names("build test vet fmt list version"),
    "docker": names("ps images logs inspect top stats port diff"),
}
"""Subcommands that have none of their own, of programs of which they are the first word."""

_NAMED: Final[Mapping[str, frozenset[str]]] = {
    "npm": names("run run-script"),
    "pnpm": names("run"),
    "yarn": names("run"),
}
"""Subcommands of which only the next word says more: what the project calls its script."""

ONE_TARGET: Final = names("make")
"""Programs whose first word is what the project calls a target, each further word being another."""


def head(argv: Sequence[str]) -> tuple[str, ...] | None:
    """The words of a command that say what it does, beginning with its program: `git status`,
    `npm run build`, `make check`. None where no such words begin it."""
    program, *rest = argv
    if not rest:
        return None
    if rest[0] in _SUBCOMMANDS.get(program, ()):
        return (program, rest[0])
    if program in ONE_TARGET:
        return (program, rest[0]) if _PLAIN.fullmatch(rest[0]) else None
    if rest[0] in _NAMED.get(program, ()) and len(rest) > 1 and _PLAIN.fullmatch(rest[1]):
        return (program, *rest[:2])
    return None
