"""Programs that run another: the command that their words hold (K7).

They are looked through, and what cannot be seen that way makes the line unusable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pluggableharness.kernel.policy.shell.runners import SHELLS
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word, names


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: a command's words, or a line for another shell.

    `completed` says that the wrapper adds words that are not known here.
    """

    words: tuple[Word, ...] = ()
    line: str | None = None
    completed: bool = False


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """How a wrapper's own arguments end: after known options and `operands` further words."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(flags: str = "", valued: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(names(flags), names(valued), operands)


_WRAPPERS: Final = {
    "nohup": _wrapper(),
    "setsid": _wrapper("-c -f -w --ctty --fork --wait"),
    "nice": _wrapper(valued="-n --adjustment"),
    "ionice": _wrapper("-t", "-c -n"),
    "timeout": _wrapper(
        "-v --verbose --foreground --preserve-status", "-k -s --kill-after --signal", operands=1
    ),
    "stdbuf": _wrapper(valued="-i -o -e --input --output --error"),
    "command": _wrapper("-p"),
    "builtin": _wrapper(),
    "exec": _wrapper(),
    "env": _wrapper(),
    "sudo": _wrapper("-n -k --non-interactive"),
    "doas": _wrapper("-n"),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("-i -d -m -s"),
}
_XARGS: Final = _wrapper(
    # Those two may be given a value, but only behind "=".
    "-0 -r -t -x --null --no-run-if-empty --verbose --exit --replace --max-lines",
    "-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file --replace",
)
_FIND_RUNS: Final = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_FIND_WRITES: Final = frozenset(["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"])


LOOKED_THROUGH: Final = frozenset(["find", "xargs", *SHELLS, *_WRAPPERS])
"""Programs of which it is known what they run."""


def wrapped(base: str, rest: Sequence[Word]) -> tuple[Inner, ...]:
    """What one of those programs runs, its words given. Raises NotUnderstood where that is not
    seen."""
    match base:
        case "find":
            return tuple(_find(rest))
        case "xargs":
            return (_xargs(rest),)
        case _ if base in SHELLS:
            return (_shell(base, rest),)
        case _:
            return (_looked_through(_WRAPPERS[base], base, rest),)


def _xargs(rest: Sequence[Word]) -> Inner:
    """What xargs runs; it completes the words, and replaces what `-I` names in each of them."""
    words = _looked_through(_XARGS, "xargs", rest).words
    own = [one.value for one in rest[: len(rest) - len(words)]]
    for at, value in enumerate(own):
        if value == "-I":
            words = _replaced(words, own[at + 1])
        elif value.startswith("-I"):
            words = _replaced(words, value[2:])
        elif value.startswith("--replace"):
            words = _replaced(words, value.partition("=")[2] or "{}")
    return Inner(words, completed=True)


def _replaced(words: Sequence[Word], mark: str) -> tuple[Word, ...]:
    """Words of which those with a mark in them are not known."""
    return tuple(Word(one.value, one.fixed and mark not in one.value) for one in words)


def _looked_through(wrapper: _Wrapper, base: str, rest: Sequence[Word]) -> Inner:
    at, operands = 0, wrapper.operands
    while at < len(rest):
        if not rest[at].fixed:
            raise NotUnderstood(f"{base} with an argument that is not known")
        value = rest[at].value
        option, equals, _ = value.partition("=")
        if operands < wrapper.operands or not value.startswith("-") or value == "-":
            if operands == 0:
                return Inner(tuple(rest[at:]))
            operands -= 1
            at += 1
        elif value in wrapper.flags or (equals and option in wrapper.valued):
            at += 1
        elif value in wrapper.valued:
            at += 2
        elif value[:2] in wrapper.valued and not value.startswith("--"):
            at += 1
        else:
            raise NotUnderstood(f"{base} {value} is not known")
    raise NotUnderstood(f"{base} does not name what it runs")


def _shell(base: str, rest: Sequence[Word]) -> Inner:
    """`sh -c LINE`; any other use runs what is not seen here."""
    if len(rest) == 2 and rest[0] == Word("-c") and rest[1].fixed:
        return Inner(line=rest[1].value)
    raise NotUnderstood(f"{base} runs what is not seen here")


def _ends(values: Sequence[str], at: int) -> bool:
    """Whether a word ends what find runs: a `+` does so only behind `{}`."""
    return values[at] == ";" or (values[at] == "+" and values[at - 1] == "{}")


def _find(rest: Sequence[Word]) -> list[Inner]:
    found: list[Inner] = []
    values = [one.value for one in rest]
    written = _FIND_WRITES.intersection(values)
    if written:
        raise NotUnderstood(f"find {min(written)} writes")
    at = 0
    while at < len(values):
        if values[at] in _FIND_RUNS:
            end = next((i for i in range(at + 1, len(values)) if _ends(values, i)), at)
            words = tuple(rest[at + 1 : end])
            if not words or not all(one.fixed for one in words):
                raise NotUnderstood(f"find {values[at]} without what it runs")
            found.append(Inner(_replaced(words, "{}"), completed=True))
            at = end
        at += 1
    return found
