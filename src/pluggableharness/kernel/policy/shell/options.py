"""How the words of a program are told apart: what its options do, and which files it writes (K7).

An option is known to be plain, known to write a file, known to execute, or unknown. What it is
said to be here holds wherever it stands, so that a value is never taken for less than an option.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import assert_never

from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word, names


class Targets(Enum):
    """Which of a program's operands it writes, creates or removes."""

    NONE = "none"
    ALL = "all"
    LAST = "the last of at least two"
    SECOND = "the second and those behind it"
    OF = "of=FILE"


class Meaning(Enum):
    """What an option does."""

    RUNS = "runs"
    WRITES = "writes"
    VALUED = "valued"
    FLAG = "flag"
    UNKNOWN = "unknown"


def options(
    flags: str = "", valued: str = "", *, writes: str = "", runs: str = ""
) -> dict[str, Meaning]:
    """What options do, the names of each kind in one text.

    `flags` and `valued` are plain, the latter with a value; the value of one of `writes` is a file
    that it writes; with one of `runs` the program does what its words do not show. Of two kinds
    that share a name the last of these holds. Long options count however they are shortened, and a
    name that ends in `*` stands for all that begin so.
    """
    found: dict[str, Meaning] = {}
    for meaning, text in (
        (Meaning.RUNS, runs),
        (Meaning.WRITES, writes),
        (Meaning.VALUED, valued),
        (Meaning.FLAG, flags),
    ):
        for name in text.split():
            found.setdefault(name, meaning)
    return found


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of a program's words.

    `refused` finds the values of options with which the program does what its words do not show,
    and under "" such operands. Where `closed`, every option that is not among `options` is
    unproven; else only one whose name speaks of executing or writing; so are those of `starts`,
    whose value is a script of which the rest are the words. `trade` says that the program is there
    to write its `targets`. Behind the first operand of a `script` stand the script's own words.
    `whole` options have one dash and are no clusters of letters, `old` ones (tar) may do without
    the dash, and `listed` ones are read from an `@file`.
    """

    options: Mapping[str, Meaning] = field(default_factory=dict)
    refused: Mapping[str, "re.Pattern[str]"] = field(default_factory=dict)
    targets: Targets = Targets.NONE
    trade: bool = False
    closed: bool = False
    script: bool = False
    starts: frozenset[str] = frozenset()
    whole: bool = False
    old: bool = False
    listed: bool = False

    def meaning(self, name: str) -> tuple[Meaning, str]:
        """What the option of a name does, and the option of the table that it is."""
        if name in self.options:
            return self.options[name], name
        known = (one for one in self.options.items() if _stands_for(name, one[0]))
        option, meaning = next(known, (name, Meaning.UNKNOWN))
        return meaning, option

    def takes_value(self, option: str) -> bool:
        """Whether that very option has a value."""
        return self.options.get(option) in (Meaning.VALUED, Meaning.WRITES)

    def refuses(self, option: str, value: str) -> bool:
        """Whether that value of an option, or of an operand, is one that may do anything."""
        found = self.refused.get(option)
        return found is not None and found.search(value) is not None


@dataclass(slots=True)
class Judged:
    """What a program's words come to: the files that it writes, the operands, and the options of
    which nothing is known."""

    writes: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)


def judged(name: str, shape: Shape, words: Sequence[Word]) -> Judged:
    """What the words of a program come to. Raises NotUnderstood where it may execute, or where
    what it writes is not told by its words."""
    reading = _Reading(name, shape)
    values = [one.value for one in words]
    reading.all(_dashed(shape, values) if shape.old else values)
    return reading.found


def _dashed(shape: Shape, values: list[str]) -> list[str]:
    """Words whose first may be a cluster without a dash, the values of its letters behind it."""
    if not values or values[0].startswith("-"):
        return values
    rest = values[1:]
    made: list[str] = []
    for letter in values[0]:
        made.append(f"-{letter}")
        if shape.takes_value(made[-1]) and rest:
            made.append(rest.pop(0))
    return made + rest


class _Reading:
    """One pass over a program's words, from the left."""

    def __init__(self, name: str, shape: Shape) -> None:
        self.found = Judged()
        self._name = name
        self._shape = shape

    def all(self, values: list[str]) -> None:
        words = deque(values)
        while words:
            value = words.popleft()
            if value == "--":
                self._operands([*words])
                words.clear()
            elif value[:2] in self._shape.starts and not self.found.unproven:
                self.found.unproven.append(value[:2])
                self._operands([value[2:] or (words.popleft() if words else "")])
                words.clear()
            elif self._is_option(value):
                self._option(value, words)
            elif self._shape.script and not self.found.unproven:
                self._operands([value])
                words.clear()
            else:
                self._operands([value])
        self.found.writes += _targets(self._shape.targets, self.found.operands)

    def _is_option(self, value: str) -> bool:
        return len(value) > 1 and (value[0] == "-" or (self._shape.listed and value[0] == "@"))

    def _operands(self, values: list[str]) -> None:
        for value in values:
            if self._shape.refuses("", value):
                raise NotUnderstood(f"{self._name} {value} may execute or write")
        self.found.operands += values

    def _option(self, value: str, words: deque[str]) -> None:
        if value[0] == "@":
            raise NotUnderstood(f"{self._name} reads options from {value[1:]}")
        name, equals, attached = value.partition("=")
        if self._shape.whole or name.startswith("--"):
            self._named(value, name, attached if equals else None, words)
        else:
            self._cluster(value, words)

    def _named(self, value: str, name: str, attached: str | None, words: deque[str]) -> None:
        shape = self._shape
        kind, known = shape.meaning(name)
        if known.endswith("*"):
            attached = value[len(known) - 1 :].removeprefix("=") or None
        match kind:
            case Meaning.RUNS:
                raise NotUnderstood(f"{self._name} {name} executes or writes")
            case Meaning.WRITES | Meaning.VALUED:
                self._value(known, attached, words, written=kind is Meaning.WRITES)
            case Meaning.FLAG:
                pass
            case Meaning.UNKNOWN:
                given = attached if attached is not None or not words else words[0]
                if shape.closed or telling(name, given):
                    self.found.unproven.append(value)
            case never:
                assert_never(never)

    def _cluster(self, value: str, words: deque[str]) -> None:
        """Letters behind one dash: each an option, the last perhaps with its value."""
        shape = self._shape
        if shape.options.get(value) is Meaning.RUNS:
            raise NotUnderstood(f"{self._name} {value} executes or writes")
        for at, letter in enumerate(value[1:], 2):
            option = f"-{letter}"
            rest = value[at:] or None
            known = shape.options.get(option)
            if known is Meaning.RUNS:
                raise NotUnderstood(f"{self._name} {option} executes or writes")
            if shape.takes_value(option):
                self._value(option, rest, words, written=known is Meaning.WRITES)
                return
            unknown = known is None and not letter.isdigit()
            if unknown and shape.closed and value not in self.found.unproven:
                self.found.unproven.append(value)

    def _value(
        self, option: str, attached: str | None, words: deque[str], *, written: bool = False
    ) -> None:
        value = attached if attached is not None or not words else words.popleft()
        if value is None:
            if written:
                raise NotUnderstood(f"{self._name} {option} without what it writes")
            return
        if self._shape.refuses(option, value):
            raise NotUnderstood(f"{self._name} {option} {value} executes or writes")
        if written:
            self.found.writes.append(value)
        elif attached is None and self._is_option(value):
            # Another version of the program may take no value here.
            self._option(value, deque())


def _stands_for(name: str, one: str) -> bool:
    """Whether a name is an option's shortened, or one of those that its `*` stands for."""
    if one.endswith("*"):
        return name.startswith(one[:-1])
    return name.startswith("--") and len(name) > 2 and one.startswith(name)


def _targets(targets: Targets, operands: list[str]) -> list[str]:
    match targets:
        case Targets.ALL:
            return operands
        case Targets.LAST:
            return operands[-1:] if len(operands) > 1 else []
        case Targets.SECOND:
            return operands[1:]
        case Targets.OF:
            return [one[3:] for one in operands if one.startswith("of=")]
        case Targets.NONE:
            return []


_TELLING = names(
    "exec execute command cmd shell eval script plugin plugins require import preload load loader "
    "hook hooks pager editor program wrapper interpreter executable launcher "
    "output out outfile outdir dump logfile"
)
_HARMLESS_END = names(
    "format mode style level color colour width limit type count timeout only encoding size"
)
_HARMLESS_START = names("no without skip ignore disable")
_FORMATS = names("json yaml yml text txt table wide name csv tsv xml jsonl github gitlab")
_STEP = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


def telling(option: str, value: str | None = None) -> bool:
    """Whether the name of a program's option speaks of executing, loading or writing."""
    steps = [step.lower() for step in _STEP.findall(option)]
    if not steps or steps[0] in _HARMLESS_START or steps[-1] in _HARMLESS_END:
        return False
    if value in _FORMATS:
        return False
    return steps[0] in _TELLING or steps[-1] in _TELLING or steps[-2:] == ["log", "file"]
