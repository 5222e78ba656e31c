"""Writes that are at least asked about, whatever the rules say (K5a).

Judged by the path's text alone: where a symlink leads is for the jail to know. What a shell
command writes by redirect is not seen here.
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
"""Words by which an argument's name says that it holds a path. Providers of other people
declare no more than names, and a word too many only asks once too often."""

_NOBODY: frozenset[str] = frozenset()


def protected_write(call: Call, policy_files: frozenset[str] = _NOBODY) -> str | None:
    """Why a resource call is at least ask: the path that it names and what that holds.

    None when it names no protected path, or is no resource. `policy_files` are the absolute
    paths of the files that rules are loaded from.
    """
    if call.operation.kind is not Kind.RESOURCE:
        return None
    for path in _paths(call.arguments, named=False):
        reason = protected_path(path, call.context.working_directory, policy_files)
        if reason is not None:
            return reason
    return None


def protected_path(
    path: str, working_directory: str, policy_files: frozenset[str] = _NOBODY
) -> str | None:
    """What makes a path protected, in words; None when nothing does."""
    absolute = normpath(join(working_directory, path))
    if absolute in policy_files:
        return f"{path!r} holds the rules by which calls are judged"
    folded = _folded(absolute)
    if "git" not in folded and "agent" not in folded:
        return None  # nearly every call: the rest costs ten times as much
    steps = [step.partition(":")[0].rstrip(" .") for step in folded.split("/")]
    if ".git" in steps or "git~1" in steps:
        return f"{path!r} is part of .git, which can run code at the next git command"
    if ".agent" in steps and not _is_output(steps):
        return f"{path!r} is below .agent, from which the harness itself is steered"
    if steps[-1] == "agent.hcl":
        return f"{path!r} holds the rules by which calls are judged"
    return None


def _is_output(steps: list[str]) -> bool:
    """Whether it is below `.agent/outputs/`, the innermost `.agent` being the one that counts."""
    inner = len(steps) - 1 - steps[::-1].index(".agent")
    return steps[inner + 1 : inner + 2] == ["outputs"] and len(steps) > inner + 2


def _folded(path: str) -> str:
    """The path without case and without what does not print.

    Some file systems ignore the one, HFS+ some of the other, and NTFS also dots and blanks at
    a step's end and what follows its colon; git itself once missed each of these.
    """
    if not path.isprintable():
        path = "".join(filter(str.isprintable, path))
    return path.casefold()


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
