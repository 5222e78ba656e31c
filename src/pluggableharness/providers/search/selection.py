"""Which files of an area are looked at, and what that leaves out (C8, C9).

Hidden names are left out unless they are wanted or written out, `.git` always; so is what
`.gitignore`, `.ignore` and `.rgignore` say, from the allowed root down and without asking
whether there is a repository.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pluggableharness.providers.search.area import Area, process_views
from pluggableharness.providers.search.confined import can_confine
from pluggableharness.providers.search.pattern import Pattern
from pluggableharness.providers.search.ripgrep import Ending, running
from pluggableharness.sdk import Doc

_MOST_WARNINGS: Final = 20
_NOTHING_FOUND_S: Final = 2.0
_CHEAP_S: Final = 1.0
_CHEAP_CPU_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a search left out."""

    hidden: Annotated[
        int, Doc("Files left out because they or a folder above begin with a dot")
    ] = 0
    ignored: Annotated[int, Doc("Other files left out because of .gitignore and its like")] = 0
    is_minimum: Annotated[
        bool, Doc("True when counting was given up because it took long: there may be more")
    ] = False


@dataclass(frozen=True, slots=True)
class Selection:
    """What a call says about the files that it wants."""

    pattern: Pattern
    hidden: bool
    ignored: bool
    file_type: str | None = None
    """A type of file as ripgrep knows them, which also has to fit."""
    excluded: str | None = None
    """A glob of files that are left out."""

    @property
    def goes_into_hidden(self) -> bool:
        """Whether ripgrep has to look at hidden names at all."""
        return self.hidden or self.pattern.names_hidden

    def arguments(self, area: Area) -> list[str]:
        """Write ripgrep's arguments; what they let through still has to pass `wanted`.

        No `--glob` that lets files in: it would let ignored ones in as well. Globs for names
        are given as a type of file instead, which does not.
        """
        arguments = ["--no-require-git", "--no-ignore-global", "--no-ignore-messages"]
        if area.is_root or not can_confine():
            # Else it looks for ignore files up to `/`, which costs, and only Landlock stops it.
            arguments.append("--no-ignore-parent")
        if self.ignored:
            arguments.append("--no-ignore")
        if self.goes_into_hidden:
            arguments += ["--hidden", "--glob=!.git"]
        arguments += [f"--glob=!/{_escaped(path)}" for path in process_views(area.folder)]
        if self.excluded is not None:
            arguments.append(f"--glob=!{self.excluded}")
        if self.pattern.depth is not None:
            arguments.append(f"--max-depth={self.pattern.depth}")
        return arguments + self._types()

    def _types(self) -> list[str]:
        if self.file_type is not None:
            return [f"--type={self.file_type}"]
        globs = self.pattern.name_globs
        return [f"--type-add=wanted:{glob}" for glob in globs] + ["--type=wanted"] * bool(globs)

    @property
    def wanted(self) -> Callable[[list[str]], list[str]]:
        """What picks the paths that are wanted among those that ripgrep let through.

        Most are, and most patterns can be wrong about hidden names only: ripgrep lets those
        pass that fit a type, or that an ignore file names with a `!`.
        """
        fits = self.pattern.expression(self.hidden).fullmatch

        def pick(paths: list[str]) -> list[str]:
            return [path for path in paths if fits(path)]

        def pick_visible(paths: list[str]) -> list[str]:
            return pick(paths) if "/." in "/" + "/".join(paths) else paths

        if not self.is_exact:
            return pick
        return _all_of_them if self.hidden else pick_visible

    @property
    def is_exact(self) -> bool:
        """Whether what ripgrep lets through is wanted, but for hidden names."""
        return self.pattern.is_exact and self.file_type is None


def _all_of_them(paths: list[str]) -> list[str]:
    return paths


def _escaped(path: str) -> str:
    return "".join(f"\\{each}" if each in "*?[]{}\\!" else each for each in path)


async def list_files(
    area: Area, selection: Selection, take: Callable[[list[str]], Awaitable[None]]
) -> Ending:
    """Give `take` the files that ripgrep would look at, some at a time, in no order.

    Raises ExecutionFailed when ripgrep does not come to its end.
    """
    arguments = ["--files", "--null", *selection.arguments(area)]
    async with running(arguments, folder=area.folder, readable=area.roots) as run:
        rest = b""
        async for chunk in run.chunks():
            whole, _, rest = (rest + chunk).rpartition(b"\0")
            if whole:
                await take(whole.decode("utf-8", "surrogateescape").split("\0"))
        return await run.ended()


def warnings_of(ending: Ending, area: Area) -> list[str]:
    """Return what could not be read, as ripgrep says it, with the paths that the call knows."""
    return [
        area.shown(line.removeprefix("./"))
        for line in ending.said.removeprefix("rg: ").removesuffix("\n").split("\nrg: ")
        if line
    ]


def some_of(warnings: list[str]) -> list[str]:
    """Cut a list of warnings that is too long to be read."""
    if len(warnings) <= _MOST_WARNINGS:
        return warnings
    return [*warnings[:_MOST_WARNINGS], f"and {len(warnings) - _MOST_WARNINGS} more like these"]


def time_to_count(found_any: bool, cpu_s: float) -> float:
    """Decide how many seconds may be spent on counting what was left out.

    The way to count is to list everything. Where nothing was found, that is worth nothing
    without the count; where the search was cheap, so is counting, unless what is ignored is
    huge.
    """
    if not found_any:
        return _NOTHING_FOUND_S
    return _CHEAP_S if cpu_s < _CHEAP_CPU_S else 0


async def left_out(area: Area, selection: Selection, looked_at: int, within_s: float) -> Skipped:
    """Count the files that fit but were left out; `looked_at` is how many were not."""
    if area.file is not None or (selection.hidden and selection.ignored):
        return Skipped()
    count = _Count(selection, looked_at)
    if within_s <= 0:
        return count.result(is_minimum=True)
    try:
        async with asyncio.timeout(within_s):
            await list_files(area, replace(selection, hidden=True, ignored=True), count.add)
    except TimeoutError:
        return count.result(is_minimum=True)
    return count.result(is_minimum=False)


class _Count:
    """Counts everything that would fit if nothing were left out."""

    def __init__(self, selection: Selection, looked_at: int) -> None:
        self._everything = replace(selection, hidden=True).wanted
        self._in_sight = selection.wanted
        self._looked_at = looked_at
        self._hidden = self._others = 0

    async def add(self, paths: list[str]) -> None:
        fitting = self._everything(paths)
        in_sight = len(self._in_sight(fitting))
        self._others += in_sight
        self._hidden += len(fitting) - in_sight

    def result(self, *, is_minimum: bool) -> Skipped:
        return Skipped(self._hidden, max(0, self._others - self._looked_at), is_minimum)
