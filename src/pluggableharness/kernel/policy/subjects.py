"""What a call is about, told by its arguments: paths, a command line, an address.

Providers of other people declare no more than names, so it is the names that are gone by. A
name too many makes one question more.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from posixpath import join, normpath

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.policy.shell import shell_view

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PATH_WORDS = {
    *("path", "paths", "file", "files", "filename", "filenames", "filepath", "uri", "location"),
    *("dir", "directory", "folder", "source", "src", "from", "target", "destination", "dest"),
    *("to", "into", "output", "out", "cwd", "workdir"),
}
"""Words by which an argument's name says that it holds a path."""

FOLDERS = ("working_directory", "working_dir", "cwd", "workdir")
"""Arguments of which each names the folder in which a call's command runs."""

_RUN = ("command", "cmd", "command_line", "argv")
"""Arguments of which each says what a call runs."""

ADDRESSES = ("url", "uri", "address")
"""Arguments of which each names a web address."""

_CONTENT_WORDS = frozenset(
    ["content", "contents", "text", "body", "str", "prompt", "description", "message"]
)
"""Words by which a name says that it holds what is written, not where to."""

_OWN_STREAM = re.compile(r"/dev/fd/[0-9]+")
"""What a shell takes for a descriptor of its own, and opens no file for."""

_LONGEST_PATH = 4096
_ADDRESS = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*://")

_ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")

_HOST = re.compile(r"(https?)://([A-Za-z0-9.-]+)(?::[0-9]+)?(?:[/?#]|$)")


@dataclass(frozen=True, slots=True)
class Target:
    """A text of a call that may be a path it writes to.

    `absolute` is that path from where it is read, its links and `..` still in it. `told` means
    that an argument's name or a redirect says that it is one; else only its shape does.
    """

    text: str
    absolute: str
    told: bool


def targets(call: Call) -> Iterator[Target]:
    """Everything that a resource call may write to, so far as its arguments tell (K5a).

    Of a shell's arguments these are the named paths and what the command redirects to; of any
    other's, every string, and every key of a map, that is a path as a whole: one line, no longer
    than a path may be, no address of the web, and not under a name that speaks of content. So
    neither a text that mentions a path counts, nor a replacement that is nothing but one.
    """
    here = call.context.working_directory
    named = [Target(path, join(here, one), True) for path in paths(call) for one in readings(path)]
    yield from named
    line = command_line(call)
    if line is None:
        declared = call.operation.input_schema.properties
        for text in _texts(call.arguments, declared):
            if _may_be_path(text):
                for path in readings(text):
                    yield Target(text, join(here, path), False)
        return
    # Which of the named paths is where the command runs, only its provider knows.
    for path in shell_view(line).writes:
        if not _OWN_STREAM.fullmatch(path):
            for base in (here, *(one.absolute for one in named)):
                yield Target(path, join(base, path), True)


def destination(call: Call, absolute: str) -> str:
    """Where a path of the call leads, as seen from its working directory.

    "" where that could not be told, and its own text, without `..`, where nobody has looked.
    """
    real = call.places.get(absolute)
    if not real:
        return normpath(absolute) if real is None else ""
    here = normpath(call.context.working_directory)
    real_here = call.places.get(call.context.working_directory) or here
    if real == real_here:
        return here
    below = real_here.rstrip("/") + "/"
    return join(here, real[len(below) :]) if real.startswith(below) else real


def leading(text: str, leads_to: str) -> str:
    """In words where a path of a call leads; `leads_to` is "" where that could not be told."""
    if not leads_to:
        return f"where {in_quotes(text)} leads could not be told"
    return f"{in_quotes(text)} leads to {in_quotes(leads_to)}"


def followed(named: Iterable[str], call: Call) -> list[str]:
    """Paths of a call as rules speak of them: as they say, and where they lead.

    So a rule about a folder covers no link in it that leads out, and one about a file holds for
    every link to it (K5a).
    """
    found: dict[str, None] = {}
    for path in named:
        found[relative(path, call)] = None
        leads_to = destination(call, join(call.context.working_directory, path))
        if leads_to:
            found[relative(leads_to, call)] = None
    return list(found)


def redirections(call: Call) -> Iterator[tuple[str, str]]:
    """The paths of a call that lead elsewhere than they say, and where to (K10a).

    The second is "" where that could not be told.
    """
    seen = set()
    for target in targets(call):
        leads_to = destination(call, target.absolute)
        if leads_to != normpath(target.absolute) and target.absolute not in seen:
            seen.add(target.absolute)
            yield target.text, leads_to


def command_line(call: Call) -> str | None:
    """The command line that a call hands to a shell: a resource's argument `command`."""
    command = call.arguments.get("command")
    shell = call.operation.kind is Kind.RESOURCE and isinstance(command, str)
    return command if shell and isinstance(command, str) else None


def words_run(call: Call) -> str | None:
    """What a call of any kind runs, as a command line: a text, or a list of words that no shell
    reads, with the words of `args` behind it; None where no argument is known to say it (K7)."""
    said = [_as_line(call.arguments.get(one)) for one in _RUN]
    if not any(one is not None for one in said):
        return None
    return " ".join(one for one in (*said, _as_line(call.arguments.get("args"))) if one)


def folder_argument(call: Call) -> str | None:
    """The folder that a call names as the one to run in; None without one, or with several."""
    named = [call.arguments[one] for one in FOLDERS if one in call.arguments]
    return named[0] if len(named) == 1 and isinstance(named[0], str) else None


def paths(call: Call) -> Iterator[str]:
    """Every text among the arguments that stands under a name that speaks of paths."""
    return _paths(call.arguments, named=False)


def relative(path: str, call: Call) -> str:
    """A path as rules speak of it: without `..`, from the working directory if it is below."""
    directory = normpath(call.context.working_directory)
    absolute = normpath(join(directory, path))
    below = directory.rstrip("/") + "/"
    return absolute[len(below) :] if absolute.startswith(below) else absolute


def readings(text: str) -> Iterator[str]:
    """The paths that a text may mean: itself, and for a `file:` address what that names."""
    yield text
    if text.startswith("file:"):
        rest = _ENCODED.sub(_decoded, text.removeprefix("file:").encode(errors="replace"))
        path = rest.decode(errors="surrogateescape")
        yield "/" + path[2:].partition("/")[2] if path.startswith("//") else path


def host(call: Call) -> tuple[str, str, str] | None:
    """The argument by which a call names a web address, its scheme and its host; None when it
    names none, or one that could be read in two ways."""
    for name in ADDRESSES:
        value = call.arguments.get(name)
        found = _HOST.match(value) if isinstance(value, str) else None
        if found is not None:
            return name, found[1], found[2]
    return None


def _as_line(value: Json) -> str | None:
    if isinstance(value, list | tuple):
        words = [one for one in value if isinstance(one, str)]
        return shlex.join(words) if len(words) == len(value) else None
    return value if isinstance(value, str) else None


def _decoded(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 16)])


def _may_be_path(text: str) -> bool:
    short = 0 < len(text) <= _LONGEST_PATH
    return short and "\n" not in text and _ADDRESS.match(text) is None


def speaks_of_content(name: str) -> bool:
    """Whether an argument of that name holds what is written, and not where to."""
    return _speaks_of_content(name) and not speaks_of_paths(name)


def _texts(value: Json, declared: Mapping[str, object]) -> Iterator[str]:
    """Every string that no name calls content, and every key but for declared arguments'."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name not in declared:
                yield name
            if not _speaks_of_content(name):
                yield from _texts(item, {})
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, {})


def _paths(value: Json, named: bool) -> Iterator[str]:
    """Every text that stands under a name that speaks of paths, at any depth."""
    if isinstance(value, str):
        if named:
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _paths(item, speaks_of_paths(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _paths(item, named)


@lru_cache(maxsize=4096)
def _speaks_of_content(name: str) -> bool:
    return any(word.lower() in _CONTENT_WORDS for word in _WORD.findall(name))


@lru_cache(maxsize=4096)
def speaks_of_paths(name: str) -> bool:
    """Whether an argument of that name holds a path, or several."""
    return any(word.lower() in _PATH_WORDS for word in _WORD.findall(name))
