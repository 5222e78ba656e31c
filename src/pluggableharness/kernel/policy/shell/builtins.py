"""Builtins of bash by what they may do (K7).

Those that assign names, evaluate arithmetic or subscripts (which run commands of their own), read
scripts or change what later words mean are not plain. All that bash has must stand here: one that
does not is found by the tests.
"""

import re
from collections.abc import Sequence
from typing import Final

from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word, names

LOOKED_THROUGH: Final = names("command builtin exec")
NOT_PLAIN: Final = names(
    "alias unalias bind compgen complete compopt enable eval fc hash history source . shopt set "
    "trap declare typeset local export readonly let read readarray mapfile getopts unset coproc "
    "suspend logout"
)
PLAIN: Final = names(
    ": bg break caller cd continue dirs disown echo exit false fg help jobs kill popd printf "
    "pushd pwd return shift test [ times true type ulimit umask wait"
)
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_TEXT: Final = re.compile(r"(?:[^%]|%%|%-?[0-9]{0,4}(?:\.[0-9]{0,4})?[sbqc])*")
_FIGURES: Final = re.compile(r"(?:[^%]|%%|%[-+ #0]*[0-9]{0,4}(?:\.[0-9]{0,4})?[sbqcdiouxXeEfFgG])*")
_FIGURE: Final = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_EVALUATING: Final = names("-eq -ne -lt -le -gt -ge")


def check(name: str, words: Sequence[Word]) -> None:
    """Raise NotUnderstood for a builtin whose words may assign, evaluate or execute."""
    values = [one.value for one in words]
    if name in NOT_PLAIN:
        raise NotUnderstood(f"{name} runs its arguments, or changes what others mean")
    if name in ("test", "["):
        _test(name, values)
    elif name == "printf":
        _printf(words)
    elif name == "wait" and any(one.startswith("-") for one in values):
        raise NotUnderstood("wait with an option may assign")
    elif name == "jobs" and any(one.startswith("-") and "x" in one for one in values):
        raise NotUnderstood("jobs -x runs its arguments")


def _test(name: str, values: list[str]) -> None:
    for at, value in enumerate(values):
        if value in ("-v", "-R"):
            raise NotUnderstood(f"{name} {value} evaluates a name's subscript")
        # bash takes only numbers here; other shells evaluate.
        beside = values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
        if value in _EVALUATING and not all(_NUMBER.fullmatch(one) for one in beside):
            raise NotUnderstood(f"{name} {value} with what is no number may evaluate it")


def _printf(words: Sequence[Word]) -> None:
    rest = words[1:] if words and words[0].value == "--" else words
    if not rest:
        return
    if rest[0].value.startswith("-"):
        raise NotUnderstood("printf with an option may assign")
    if not rest[0].fixed:
        raise NotUnderstood("printf with a format that may assign")
    if _TEXT.fullmatch(rest[0].value):
        return
    # Any number of letters may stand before bash's %n, which assigns; other shells evaluate what
    # they are to print as a figure.
    figures = all(one.fixed and _FIGURE.fullmatch(one.value) for one in rest[1:])
    if not figures or _FIGURES.fullmatch(rest[0].value) is None:
        raise NotUnderstood("printf with a format that may assign or evaluate")
