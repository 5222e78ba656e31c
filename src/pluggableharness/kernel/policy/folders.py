"""Where a call's command runs, and what its relative paths mean there (K7).

Rules speak of paths and programs as they are seen from the session's working directory, so that
`echo x > key` in `secrets` writes `secrets/key`, and `./build.sh` in `evil` is `evil/build.sh`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import join, normpath

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.policy.shell import Command, ShellView
from pluggableharness.kernel.policy.subjects import (
    destination,
    folder_argument,
    followed,
    paths,
    readings,
    relative,
    words_run,
)

_UNTOLD = "where the folder in which it runs leads could not be told"
_SEVERAL = "a program by a relative path, and more than one folder in which it may run"


class Folders:
    """The folders that a call's relative paths may be read from.

    A command runs in the session's directory, or in the one that an argument named for it gives.
    Where a command's arguments name other paths beside it, only its provider knows whether it runs
    there, so that each of them counts; and of a call without a command nobody knows whether its
    paths start at a folder that it names.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._here = normpath(call.context.working_directory)
        named = list(dict.fromkeys(_absolute(call)))
        leads = [destination(call, one) for one in named]
        self._real = tuple(dict.fromkeys(leads))
        self._from = tuple(dict.fromkeys((*named, *filter(None, leads))))

    @property
    def elsewhere(self) -> bool:
        """Whether it may be another folder than the session's."""
        return self._real != (self._here,)

    @property
    def only(self) -> str | None:
        """The one folder as rules speak of it, "." being the session's; None where it is not
        known for certain."""
        if len(self._real) != 1 or not self._real[0]:
            return None
        return "." if self._real[0] == self._here else relative(self._real[0], self._call)

    def followed(self, named: Iterable[str]) -> list[str]:
        """What those paths mean to who writes or reads them, links followed."""
        joined = (join(folder, path) for path in named for folder in self._from)
        return followed(joined, self._call)

    def placed(self, view: ShellView) -> ShellView:
        """A command line's view, from the session's directory; unusable where that is not sure."""
        if "" in self._real:
            return ShellView(unusable=_UNTOLD)
        if len(self._real) > 1 and any(map(_by_relative_path, view.commands)):
            return ShellView(unusable=_SEVERAL)
        return replace(
            view,
            commands=tuple(map(self._command, view.commands)),
            writes=tuple(self.followed(view.writes)),
            reads=tuple(self.followed(view.reads)),
            unexpected=tuple(self.followed(view.unexpected)),
        )

    def _command(self, command: Command) -> Command:
        redirects_to = tuple(self.followed(command.redirects_to))
        if not (self.elsewhere and _by_relative_path(command)):
            return replace(command, redirects_to=redirects_to)
        program = relative(join(self._real[0], command.program), self._call)
        program = program if "/" in program else f"./{program}"  # no name that PATH would find
        argv = (program, *command.argv[1:])
        return replace(command, program=program, argv=argv, redirects_to=redirects_to)


def _by_relative_path(command: Command) -> bool:
    return "/" in command.program and not command.program.startswith("/")


def _absolute(call: Call) -> Iterator[str]:
    """The folders as they are named, their links and `..` still in them."""
    here = call.context.working_directory
    folder = folder_argument(call)
    if words_run(call) is None:
        named = [here] if folder is None else [here, folder]
    else:
        named = list(paths(call))
        named = [here, *named] if folder is None or named != [folder] else named
    return (join(here, one) for path in named for one in readings(path))
