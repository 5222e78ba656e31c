"""What a command does by its own words: run others, write files, or what nobody knows (K7).

Lists of programs are never complete. They make rules over well-known programs mean what their
author thinks; a program that is on none does what its author lets it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pluggableharness.kernel.policy.shell import builtins, git
from pluggableharness.kernel.policy.shell.known import (
    COMPILER,
    COMPILERS,
    INTERPRETERS,
    OTHERS,
    TAR,
    TAR_THAT_WRITES,
    TAR_WRITES,
    WRITERS,
)
from pluggableharness.kernel.policy.shell.options import Shape, Targets, judged
from pluggableharness.kernel.policy.shell.readers import READERS
from pluggableharness.kernel.policy.shell.runners import BY_SUBCOMMAND, RUNS_ARGUMENTS, SHELLS
from pluggableharness.kernel.policy.shell.sed import simple_script
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word, names
from pluggableharness.kernel.policy.shell.wrappers import LOOKED_THROUGH, Inner, wrapped


@dataclass(frozen=True, slots=True)
class Inside:
    """What a command does by its own words: what it runs, the files that it writes, and the
    options of which nothing is known. `told` says that its name tells that it writes, `aims` that
    it writes operands."""

    inner: tuple[Inner, ...] = ()
    writes: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    told: bool = False
    aims: bool = False


_UNKNOWN: Final = Shape()
_TARS: Final = frozenset(["tar", "bsdtar"])
_CODE: Final = re.compile(r"-[A-Za-z]*[cerE]|--(?:command|eval|run)(?:=.*)?", re.DOTALL)
_VERSION: Final = re.compile(r"[-.]?[0-9][0-9.]*$")
_GNU: Final = names(
    "find xargs sed tar env timeout nice nohup stdbuf split time chroot tee dd cp mv ln install "
    "touch truncate mkdir mkfifo rm rmdir unlink shred chmod chown chgrp csplit cat head tail ls "
    "sort uniq tr cut date grep printf test make runcon"
)
_DIRECTORIES: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
_RESERVED: Final = names(
    "! case coproc do done elif else esac fi for function if in select then until while { } "
    "time [[ ]]"
)


def program_name(first: Word) -> str:
    """The name of a program: without its directory where that is one of the system's.

    Any other path stays whole, since `./ls` is not `ls`. Raises NotUnderstood where it may be
    anything.
    """
    name = first.value
    if not first.fixed or not name or "=" in name or name in _RESERVED:
        raise NotUnderstood(f"{name or 'nothing'} as a program's name")
    if not name.isascii():
        raise NotUnderstood(f"{name} looks like another program's name")
    if "/" not in name:
        return name
    if ".." in name.split("/") or name.startswith(("/proc", "//", "/dev")):
        raise NotUnderstood(f"{name} may be any program")
    name = "/".join(step for step in name.split("/") if step not in ("", "."))
    name = f"/{name}" if first.value.startswith("/") else f"./{name}"
    for directory in _DIRECTORIES:
        if name.startswith(directory) and "/" not in name[len(directory) :]:
            return name[len(directory) :]
    return name


def runs_anything(program: str) -> bool:
    """Whether a program is a shell, an interpreter or a wrapper: its name says nothing (K10)."""
    base = _base(program)
    return (
        base == "sed"
        or base in LOOKED_THROUGH | RUNS_ARGUMENTS
        or _stem(base) in SHELLS | RUNS_ARGUMENTS
        or base in builtins.NOT_PLAIN
        or _stem(base) in INTERPRETERS
    )


def interprets(program: str) -> bool:
    """Whether a program is a shell or an interpreter: it runs the file that it is given."""
    return _stem(_base(program)) in SHELLS | INTERPRETERS.keys()


def needs_subcommand(program: str) -> bool:
    """Whether only the subcommand says what a program does, as with git (K10)."""
    base = _base(program)
    return base == "git" or base in BY_SUBCOMMAND


def may_wrap(program: str) -> bool:
    """Whether nothing is known of a program, so that it may run its words."""
    base = _base(program)
    return not (
        runs_anything(program)
        or needs_subcommand(program)
        or base in builtins.PLAIN
        or base in _TARS
        or COMPILERS.fullmatch(base)
        or any(base in table for table in (READERS, WRITERS, OTHERS))
    )


def given_code(words: Sequence[Word]) -> bool:
    """Whether words would be a shell or an interpreter with code among its arguments."""
    base = words[0].value.rpartition("/")[2]
    known = {base, _stem(base)} & (SHELLS | INTERPRETERS.keys())
    return bool(known) and len(words) > 1 and _CODE.fullmatch(words[1].value) is not None


def inside(program: str, words: Sequence[Word]) -> Inside:
    """What a command does by its own words; `words` are all of them.

    Raises NotUnderstood when it may run or write what its words do not show.
    """
    base = _base(program)
    rest = words[1:]
    if base in LOOKED_THROUGH:
        return Inside(wrapped(base, rest))
    if base in RUNS_ARGUMENTS or _stem(base) in RUNS_ARGUMENTS | SHELLS:
        raise NotUnderstood(f"{base} runs its arguments, or changes what others mean")
    if base in builtins.PLAIN or base in builtins.NOT_PLAIN:
        builtins.check(base, rest)
        return Inside()
    if base == "git":
        found = git.inside(rest)
        return Inside((), tuple(found.writes), tuple(found.unproven))
    if base == "sed":
        simple_script(rest)
        return Inside()
    return _by_shape(base, rest)


def _by_shape(base: str, rest: Sequence[Word]) -> Inside:
    subcommands = BY_SUBCOMMAND.get(base)
    if subcommands is not None and any(one.value in subcommands for one in rest):
        raise NotUnderstood(f"{base} runs its arguments")
    interpreter = INTERPRETERS.get(_stem(base))
    shape = interpreter or _shape(base, rest)
    found = judged(base, shape, rest)
    first = found.operands[0] if found.operands else ""
    if shape is _UNKNOWN and first == "exec":
        raise NotUnderstood(f"{base} exec runs its arguments")
    given = first in ("", "-") or first.startswith(("/dev/", "/proc/"))
    if interpreter is not None and given and not _asks_version(rest):
        raise NotUnderstood(f"{base} runs what it is given")
    aims = shape.targets is not Targets.NONE
    return Inside((), tuple(found.writes), tuple(found.unproven), told=shape.trade, aims=aims)


def gnu_name(program: str) -> str:
    """A program's name without the `g` that GNU's have where the system has others."""
    return program[1:] if program.startswith("g") and program[1:] in _GNU else program


def _base(program: str) -> str:
    """The name by which it is known what a program does."""
    return gnu_name(program.rpartition("/")[2])


def _stem(base: str) -> str:
    """A program's name without the version that may stand behind it."""
    return _VERSION.sub("", base)


def _shape(base: str, rest: Sequence[Word]) -> Shape:
    if base in _TARS:
        modes = [*rest[:1], *(one for one in rest if one.value.startswith("-"))]
        writes = any(TAR_WRITES.fullmatch(one.value) for one in modes)
        return TAR_THAT_WRITES if writes else TAR
    if COMPILERS.fullmatch(base):
        return COMPILER
    return READERS.get(base) or WRITERS.get(base) or OTHERS.get(base) or _UNKNOWN


def _asks_version(rest: Sequence[Word]) -> bool:
    return len(rest) == 1 and rest[0].value == "--version"
