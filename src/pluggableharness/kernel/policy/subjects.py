"""What a call is about, told by its arguments: paths, a command line, an address.

Providers of other people declare no more than names, so it is the names that are gone by. A
name too many makes one question more.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import join, normpath

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.values import Json

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PATH_WORDS = {
    *("path", "paths", "file", "files", "filename", "filenames", "filepath", "uri", "location"),
    *("dir", "directory", "folder", "source", "src", "from", "target", "destination", "dest"),
    *("to", "output", "out"),
}
"""Words by which an argument's name says that it holds a path."""

_HOST = re.compile(r"(https?)://([A-Za-z0-9.-]+)(?::[0-9]+)?(?:[/?#]|$)")


def command_line(call: Call) -> str | None:
    """The command line that a call hands to a shell: a resource's argument `command`."""
    command = call.arguments.get("command")
    shell = call.operation.kind is Kind.RESOURCE and isinstance(command, str)
    return command if shell and isinstance(command, str) else None


def paths(call: Call) -> Iterator[str]:
    """Every text among the arguments that stands under a name that speaks of paths."""
    return _paths(call.arguments, named=False)


def relative(path: str, call: Call) -> str:
    """A path as rules speak of it: without `..`, from the working directory if it is below."""
    directory = normpath(call.context.working_directory)
    absolute = normpath(join(directory, path))
    below = directory.rstrip("/") + "/"
    return absolute[len(below) :] if absolute.startswith(below) else absolute


def host(call: Call) -> tuple[str, str] | None:
    """Scheme and host of the web address that a call names; None when it names none, or one
    that could be read in two ways."""
    for name in ("url", "uri", "address"):
        value = call.arguments.get(name)
        found = _HOST.match(value) if isinstance(value, str) else None
        if found is not None:
            return found[1], found[2]
    return None


def _paths(value: Json, named: bool) -> Iterator[str]:
    """Every text that stands under a name that speaks of paths, at any depth."""
    if isinstance(value, str):
        if named:
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _paths(item, _speaks_of_paths(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _paths(item, named)


@lru_cache(maxsize=4096)
def _speaks_of_paths(name: str) -> bool:
    return any(word.lower() in _PATH_WORDS for word in _WORD.findall(name))
