"""From a command line to its simple commands, or to the reason why it is not understood."""

from dataclasses import dataclass, field
from functools import lru_cache
from posixpath import join

from pluggableharness.kernel.policy.shell.programs import (
    given_code,
    inside,
    may_wrap,
    needs_subcommand,
    program_name,
)
from pluggableharness.kernel.policy.shell.tree import Simple, simple_commands
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word
from pluggableharness.kernel.policy.shell.wrappers import Inner

_MOST_CHARACTERS = 10_000
_MOST_NESTED = 5
_MOST_MOVES = 6
_MOVES = frozenset(["cd", "pushd", "popd"])
_NO_FILES = frozenset(["-", "/dev/null", "/dev/stdout", "/dev/stderr"])


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command.

    `program` is its name without one of the system's directories, `argv` the program and its
    words with the quoting undone. `redirects_to` are the files that it writes to by redirect.
    `substitutes` says that some of its words are made by another command, or by the wrapper
    that runs it, and are not known here. `env` is always empty, since an assignment makes the view
    unusable. `unproven` are its options of which nothing is known; conditions do not see them, but
    an allow must hold their text. `known` is how many of `argv` stand before words that are not
    known and may be any number; None where there are no such. `may_wrap` says that nothing is
    known of the program, which may run its words.
    """

    program: str
    argv: tuple[str, ...]
    redirects_to: tuple[str, ...] = ()
    substitutes: bool = False
    env: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    known: int | None = None
    may_wrap: bool = False

    def facts(self) -> dict[str, object]:
        """The command as conditions see it."""
        return {
            "program": self.program,
            "argv": list(self.argv),
            "redirects_to": list(self.redirects_to),
            "substitutes": self.substitutes,
            "env": list(self.env),
        }


@dataclass(frozen=True, slots=True)
class ShellView:
    """What a command line runs, writes and reads.

    `unusable` is empty, or says why none of the rest can be relied on. `writes` and `reads` are
    the files of redirects, as written, and `writes` also those that programs known to write are
    given; `unexpected` are the ones of which no program's name tells, and `unsure` says why there
    may be more than these, or is empty. A wrapper stands among `commands` before what it runs.
    `possible` are commands that a program of which nothing is known may run, with what they run.
    `moves` are where its changes of directory go to, as written; "" where one does not say.
    """

    commands: tuple[Command, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    unusable: str = ""
    unexpected: tuple[str, ...] = ()
    unsure: str = ""
    moves: tuple[str, ...] = ()
    possible: tuple[Command, ...] = ()


@lru_cache(maxsize=512)
def shell_view(line: str) -> ShellView:
    """The view of a command line; never raises."""
    try:
        gathered = _Gathered()
        gathered.line(line, 0)
        return gathered.view()
    except NotUnderstood as reason:
        return ShellView(unusable=str(reason))
    except (ValueError, IndexError, RecursionError):
        # The grammar recovers from errors in shapes that nobody has listed.
        return ShellView(unusable="it does not parse")


@dataclass(slots=True)
class _Gathered:
    """What has been found so far, in the order in which it is written."""

    commands: list[Command] = field(default_factory=list)
    redirected: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    possible: list[Command] = field(default_factory=list)
    unsure: str = ""

    def line(self, line: str, depth: int) -> None:
        if len(line) > _MOST_CHARACTERS:
            raise NotUnderstood(f"it is longer than {_MOST_CHARACTERS:,} characters")
        if depth > _MOST_NESTED:
            raise NotUnderstood("shells within shells")
        for simple in simple_commands(line):
            self.redirected += simple.writes
            self.reads += simple.reads
            if simple.words:
                self._command(tuple(simple.words), simple, depth, completed=False)

    def view(self) -> ShellView:
        if not self.commands:
            raise NotUnderstood("it runs no command")
        moves = tuple(_target(one) for one in self.commands if one.program in _MOVES)
        if moves:
            self._check_relative()
        unexpected = (*self.redirected, *self.unexpected)
        return ShellView(
            tuple(self.commands),
            tuple(dict.fromkeys((*unexpected, *_moved(self.expected, moves)))),
            tuple(dict.fromkeys(self.reads)),
            unexpected=tuple(dict.fromkeys(unexpected)),
            unsure=self.unsure,
            moves=moves,
            possible=tuple(self.possible),
        )

    def _command(
        self, words: tuple[Word, ...], simple: Simple, depth: int, *, completed: bool
    ) -> None:
        if depth > _MOST_NESTED:
            raise NotUnderstood("wrappers within wrappers")
        program = program_name(words[0])
        argv = (program, *(one.value for one in words[1:]))
        unknown = simple.substitutes or completed
        does = inside(program, words)
        written = [path for path in does.writes if path not in _NO_FILES]
        (self.expected if does.told else self.unexpected).extend(written)
        loose = [one.value for one in words[1:] if not one.fixed]
        if (does.aims and completed) or any(path in one for path in written for one in loose):
            self.unsure = f"{program} writes files that the command does not name"
        known = _known(words, simple, completed=completed)
        if known == 1 and needs_subcommand(program):
            raise NotUnderstood(f"{program} without a subcommand that is known")
        wraps = may_wrap(program)
        self.commands.append(
            Command(
                *(program, argv, tuple(simple.writes), unknown),
                unproven=does.unproven,
                known=known,
                may_wrap=wraps,
            )
        )
        if wraps:
            self._suppose(words, depth)
        for inner in does.inner:
            self._inner(inner, simple, depth + 1, completed)

    def _suppose(self, words: tuple[Word, ...], depth: int) -> None:
        """Read the code that words would run if the program before them ran them."""
        for at in range(1, len(words) - 1):
            if not given_code(words[at:]):
                continue
            name = words[at].value
            for inner in inside(name, words[at:]).inner:
                within = _Gathered()
                within.line(inner.line or "", depth + 1)
                self.possible += (*within.commands, *within.possible)

    def _inner(self, inner: Inner, simple: Simple, depth: int, completed: bool) -> None:
        if inner.line is not None:
            self.line(inner.line, depth)
        else:
            more = completed or inner.completed
            self._command(inner.words, simple, depth, completed=more)

    def _check_relative(self) -> None:
        """A relative path means something else once the directory may have changed."""
        paths = (*self.redirected, *self.unexpected, *self.reads)
        if any(not path.startswith("/") for path in paths):
            raise NotUnderstood("a redirect to a relative path beside a change of directory")
        if any("/" in one.program and one.program[0] != "/" for one in self.commands):
            raise NotUnderstood("a program by a relative path beside a change of directory")


def _known(words: tuple[Word, ...], simple: Simple, *, completed: bool) -> int | None:
    """How many words stand before those that xargs, find or another command supplies; a word
    made by another command counts where a subcommand stands, and none behind it."""
    fixed = [one.fixed for one in words]
    if completed:
        at = fixed.index(False) if False in fixed else len(fixed)
        return 1 if at > 1 and words[1].value.startswith("-") else at
    first = next((at for at in range(1, len(words)) if not words[at].value.startswith("-")), 0)
    return 1 if simple.substitutes and first and not fixed[first] else None


def _moved(paths: list[str], moves: tuple[str, ...]) -> list[str]:
    """Paths from wherever the line may have gone by then."""
    if all(path.startswith("/") for path in paths):
        return paths
    if "" in moves:
        raise NotUnderstood("a relative path beside a change of directory that may go anywhere")
    if len(moves) > _MOST_MOVES:
        raise NotUnderstood("it changes the directory too often")
    found = list(paths)
    for move in reversed(moves):
        found += [join(move, path) for path in found if not path.startswith("/")]
    return found


def _target(move: Command) -> str:
    """Where a command goes to; "" where its words do not say."""
    target = move.argv[-1]
    known = len(move.argv) > 1 and not move.substitutes and target[:1] not in ("-", "+")
    return target if known and not any(char in target for char in "*?[") else ""
