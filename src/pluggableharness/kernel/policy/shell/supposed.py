"""What a command line may run beside what is certain: for rules that forbid, never for an allow.

xargs supplies words that are not in the line, and a program of which nothing is known may be a
wrapper that runs its words. Neither can be told from the text, so a rule that would hold if they
were what it speaks of cannot be answered.
"""

from collections.abc import Iterator

from pluggableharness.kernel.policy.shell.programs import gnu_name, program_name
from pluggableharness.kernel.policy.shell.view import Command, ShellView
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word


def supposed(view: ShellView, texts: frozenset[str]) -> list[Command]:
    """The commands that a line may run as well, of those that the texts of a condition name.

    A command whose words are not all known is given each of the texts, and all of them, where
    its unknown words stand.
    """
    found: list[Command] = [*view.possible]
    for command in (*view.commands, *view.possible):
        found += _by_another_name(command, texts)
        found += _wrapped(command, texts)
    for command in (*view.commands, *found):
        found += _completed(command, texts)
    return found


def _by_another_name(command: Command, texts: frozenset[str]) -> Iterator[Command]:
    name = gnu_name(command.program)
    if name != command.program and name in texts:
        yield _named(name, command.argv, command)


def _wrapped(command: Command, texts: frozenset[str]) -> Iterator[Command]:
    """What a command runs if its program is a wrapper: each of its words that a text names."""
    if not command.may_wrap:
        return
    for at in range(1, len(command.argv)):
        try:
            name = program_name(Word(command.argv[at]))
        except NotUnderstood:
            continue
        for one in {name, gnu_name(name)} & texts:
            yield _named(one, command.argv[at:], command, at)


def _named(name: str, argv: tuple[str, ...], of: Command, at: int = 0) -> Command:
    known = None if of.known is None else max(of.known - at, 1)
    return Command(name, (name, *argv[1:]), of.redirects_to, of.substitutes, known=known)


def _completed(command: Command, texts: frozenset[str]) -> Iterator[Command]:
    if command.known is None:
        return
    several = sorted(texts)
    for given in (*((one,) for one in several), tuple(several)):
        argv = (*command.argv[: command.known], *given, *command.argv[command.known :])
        yield Command(command.program, argv, command.redirects_to, command.substitutes)
