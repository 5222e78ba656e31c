"""Which command lines shell_read takes: those that the table of readers allows, word by word.

Pure. What is not known to be harmless is refused, with the word that it is about (C15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pluggableharness.providers.exec.readers import PROGRAMS, Program
from pluggableharness.providers.exec.script import program_text
from pluggableharness.sdk import InvalidArguments, PermissionDenied
from pluggableharness.sdk.naming import quoted

PLAIN: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
}
"""Variables that keep programs to themselves: the system's, and no configuration of a user's."""


def command_line(argv: Sequence[str]) -> list[str]:
    """Return what to run for `argv`.

    Raises:
        InvalidArguments: it is empty, or no program could be given it.
        PermissionDenied: it names a program or a part that is not in the table.
    """
    if not argv:
        raise InvalidArguments("argv: expected a program and its arguments, got none")
    for word in argv:
        program_text(word, "argv")
    name, *rest = argv
    program = PROGRAMS.get(name)
    if program is None:
        known = ", ".join(sorted(PROGRAMS))
        raise PermissionDenied(
            f"{quoted(name)} is none of the programs that shell_read runs: {known}. They go by "
            "their bare names, without a shell; use bash for all else"
        )
    if not program.subcommands:
        _check(name, program, rest)
        return [name, *program.first, *rest]
    return [name, *program.first, *_subcommand(name, program, rest)]


def _subcommand(name: str, program: Program, rest: Sequence[str]) -> list[str]:
    command, *arguments = rest or ("",)
    chosen = program.subcommands.get(command)
    if chosen is None:
        known = ", ".join(sorted(program.subcommands))
        raise PermissionDenied(
            f"{name} {quoted(command)} is not allowed; shell_read takes one of {known} right "
            f"after {name}"
        )
    _check(f"{name} {command}", chosen, arguments)
    return [command, *chosen.first, *arguments]


def _check(name: str, program: Program, arguments: Sequence[str]) -> None:
    operands = list(_operands(name, program, iter(arguments)))
    if len(operands) > program.operands:
        raise _refused(name, operands[program.operands], "it takes no further operand here")


def _operands(name: str, program: Program, words: Iterator[str]) -> Iterator[str]:
    """Check every option; gives the words that are none."""
    for word in words:
        if word == "--" and program.ends_options:
            yield from words
            return
        if not word.startswith("-") or word == "-":
            yield word
        elif not _is_option(program, word):
            _take_value(name, program, word, words)


def _is_option(program: Program, word: str) -> bool:
    """Tell whether a word is an option that is complete by itself."""
    option, equals, _ = word.partition("=")
    if word in program.flags or word in program.optional:
        return True
    if equals and option.startswith("--"):
        return option in program.valued or option in program.optional
    if program.numbers and word[1:].isascii() and word[1:].isdigit():
        return True
    if not program.ends_options or word.startswith("--"):
        return False
    return _is_short(program, word)


def _is_short(program: Program, word: str) -> bool:
    """Tell whether a word is letters of short options, the last perhaps with its value."""
    for at, letter in enumerate(word[1:], 1):
        if f"-{letter}" in program.valued:
            return at + 1 < len(word) and (at == 1 or program.bundles)
        if f"-{letter}" not in program.flags or not program.bundles:
            return False
    return True


def _take_value(name: str, program: Program, word: str, words: Iterator[str]) -> None:
    """Take the next word for this option's value, or refuse the option."""
    if not _needs_value(program, word):
        raise _refused(
            name,
            word,
            "options must be written out, and be ones that cannot write, run or reach out",
        )
    if next(words, None) is None:
        raise InvalidArguments(f"argv: {quoted(word)} of {name} needs a value")


def _needs_value(program: Program, word: str) -> bool:
    if word in program.valued:
        return True
    if word.startswith("--") or not program.bundles:
        return False
    *flags, last = (f"-{letter}" for letter in word[1:])
    return last in program.valued and program.flags.issuperset(flags)


def _refused(name: str, word: str, why: str) -> PermissionDenied:
    return PermissionDenied(f"{name}: {quoted(word)} is not allowed: {why}. Use bash for all else")
