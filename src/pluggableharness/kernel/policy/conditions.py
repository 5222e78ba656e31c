"""`when`: a CEL expression about a call (K7).

Compiles and evaluates; what an answer means for a rule's action is `evaluate`'s to say. The
CEL library is loaded when the first rule has a condition.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pluggableharness.kernel.policy.cel_library import cel

if TYPE_CHECKING:
    from cel import Context, Program

VARIABLES = (
    *("provider", "tool", "kind", "risk", "arguments", "session"),
    *("commands", "writes", "reads", "working_directory"),
)
"""What a condition may speak of."""

_OF_FILES = frozenset(["commands", "writes", "reads"])

MOST_CHARACTERS = 10_000
"""How long a condition may be."""

_OPERATORS = re.compile(r"[^a-zA-Z].*|@in|@not_strictly_false|_.*")
_FUNCTIONS = frozenset(
    [
        *("size", "contains", "startsWith", "endsWith", "matches", "has", "all", "exists"),
        *("exists_one", "map", "filter", "min", "max", "int", "uint", "double", "string"),
        *("bytes", "bool", "dyn", "type", "duration", "timestamp"),
    ]
)
_BOUND = re.compile(
    r"\.\s*(?:all|exists|exists_one|existsOne|map|filter)\s*\(\s*([A-Za-z_]\w*)\s*,"
)
_COMMAND = re.compile(
    r"(?<![\w.])commands\s*\.\s*(?:all|exists|exists_one|existsOne|map|filter)"
    r"\s*\(\s*([A-Za-z_]\w*)\s*,"
)
_FIELD = r"\s*\.\s*([A-Za-z_]\w*)\b(?!\s*\()"
_INDEXED = re.compile(rf"(?<![\w.])commands\s*\[[^\[\]]*\]{_FIELD}")
_ARGUMENT = re.compile(r"(?<![\w.])arguments\s*\.\s*([A-Za-z_]\w*)\b(?!\s*\()")
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_STRING = re.compile(r"""[rR]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")


class BadCondition(ValueError):
    """A `when` that cannot be used; `line` and `column` count from 1 within it, 0 is unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Unanswerable(Exception):
    """A condition that failed on a call: neither yes nor no."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition.

    `needs` are the variables that it names; `looks_at_files` tells whether commands, writes or
    reads are among them. `minds_writes` and `minds_substitutes` say that it
    looks at what a shell command writes by redirect, and at words that another command makes;
    `texts` are the strings written in it, without their quotes; `arguments` the names of the
    call's arguments that it asks for, where they are written as `arguments.NAME`. `matches_words`
    says that it holds patterns and looks at the words of commands; `command_fields` are the
    fields asked of a name that stands for nothing but a command.
    """

    text: str
    needs: frozenset[str]
    looks_at_files: bool
    minds_writes: bool
    minds_substitutes: bool
    matches_words: bool
    texts: frozenset[str]
    arguments: frozenset[str]
    command_fields: frozenset[str]
    _program: "Program"

    def holds(self, context: "Context") -> bool:
        """Whether it holds. Raises Unanswerable for any failure and for what is no boolean."""
        try:
            answer: object = self._program.execute(context)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as failure:  # a panic of the library is no Exception
            raise Unanswerable(_first_line(failure)) from failure
        if not isinstance(answer, bool):
            raise Unanswerable(f"it gives {type(answer).__name__}, not true or false")
        return answer


@lru_cache(maxsize=4096)
def compiled(text: str) -> Condition:
    """Compile a condition. Raises BadCondition that says what is wrong and where."""
    if len(text) > MOST_CHARACTERS:
        raise BadCondition(f"a condition is at most {MOST_CHARACTERS:,} characters long")
    try:
        program = cel().compile(text)
        references = program.references()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as failure:
        raise _bad(failure) from failure
    bare = _STRING.sub(lambda found: " " * len(found[0]), text)
    bound = set(_BOUND.findall(bare))
    _known(bare, set(references["variables"]) - bound, VARIABLES, "variable")
    called = {name for name in references["functions"] if not _OPERATORS.fullmatch(name)}
    _known(bare, called, _FUNCTIONS, "function")
    needs = frozenset(references["variables"]).intersection(VARIABLES)
    writes = "writes" in needs or _names(bare, "redirects_to")
    texts = frozenset(found[1:-1] for found in _STRING.findall(text))
    files = not needs.isdisjoint(_OF_FILES)
    substitutes = _names(bare, "substitutes")
    matches = _names(bare, "matches") and _names(bare, "argv")
    arguments = frozenset() if "arguments" in bound else frozenset(_ARGUMENT.findall(bare))
    fields = _command_fields(bare)
    return Condition(
        *(text, needs, files, writes, substitutes, matches, texts, arguments, fields, program)
    )


def context(variables: Mapping[str, object]) -> "Context":
    """What conditions are evaluated over. Raises Unanswerable for values that CEL cannot hold."""
    try:
        made: Context = cel().Context(dict(variables))
        return made
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as failure:
        raise Unanswerable(_first_line(failure)) from failure


def _command_fields(text: str) -> frozenset[str]:
    bound, found = _BOUND.findall(text), set(_INDEXED.findall(text))
    commands = _COMMAND.findall(text)
    for name in set(commands):
        if bound.count(name) == commands.count(name):
            found.update(re.findall(rf"(?<![\w.]){re.escape(name)}{_FIELD}", text))
    return frozenset(found)


def _names(text: str, field: str) -> bool:
    return re.search(rf"\.\s*{field}\b", text) is not None


def _known(text: str, used: set[str], known: tuple[str, ...] | frozenset[str], what: str) -> None:
    for name in sorted(used.difference(known)):
        found = re.search(rf"\b{re.escape(name)}\b", text)
        before = text[: found.start()] if found else ""
        raise BadCondition(
            f"there is no {what} '{name}'; there are {', '.join(sorted(known))}",
            before.count("\n") + 1,
            len(before) - before.rfind("\n"),
        )


def _bad(failure: BaseException) -> BadCondition:
    found = _PLACE.search(str(failure))
    if found is None:
        return BadCondition(f"not a CEL expression: {_first_line(failure)}")
    line, column, message = found.groups()
    return BadCondition(f"not a CEL expression: {message}", int(line), int(column))


def _first_line(failure: BaseException) -> str:
    text = str(failure).partition("\n")[0][:200]
    return f"no field {text}" if isinstance(failure, KeyError) else text or type(failure).__name__
