"""One search for files: the first by path or by time of change, and how many there are (C8)."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal

from pluggableharness.providers.search.area import Area
from pluggableharness.providers.search.ripgrep import Ending
from pluggableharness.providers.search.selection import Selection, list_files
from pluggableharness.sdk.jail import best

TEXT_LIMIT: Final = 1 << 20
"""Characters of all paths together, after which no more are listed."""

Sort = Literal["path", "mtime"]
Key = Any
"""A path, or what goes before it and the path: all of one sort."""


class Smallest:
    """The smallest of any number of keys, of which only so many are ever held."""

    def __init__(self, limit: int) -> None:
        self.total = 0
        self.kept: list[Key] = []
        """Them, in order."""
        self._limit = limit

    def add(self, keys: Sequence[Key]) -> None:
        """Take more keys in."""
        self.total += len(keys)
        if len(self.kept) == self._limit:
            last = self.kept[-1]
            keys = [key for key in keys if key < last]
        if keys:
            self.kept = sorted([*self.kept, *keys])[: self._limit]


class Found:
    """The paths that were found."""

    def __init__(self, area: Area, sort: Sort, limit: int, named: str | None) -> None:
        self.named = named
        """A path that is found in any case, as it was written out and looked up."""
        self._area = area
        self._by_path = Smallest(limit)
        self._by_time = Smallest(limit)
        self._is_by_time = sort == "mtime"

    @property
    def total(self) -> int:
        """How many there are."""
        return self._by_time.total if self._is_by_time else self._by_path.total

    def shown(self) -> list[str]:
        """Return the first of them as they are called, as many as there is room for."""
        paths = [path for _, path in self._by_time.kept] if self._is_by_time else self._by_path.kept
        listed, room = [], TEXT_LIMIT
        for path in paths:
            if path == self.named or self._area.vouches_for(path):
                listed.append(self._area.shown(path))
                room -= len(listed[-1])
            if room <= 0:
                break
        return listed

    async def add(self, paths: list[str]) -> None:
        """Take more paths in."""
        if self._is_by_time:
            self._by_time.add(await _off_loop(self._area.folder, paths))
        else:
            self._by_path.add(paths)


async def find(area: Area, selection: Selection, found: Found) -> Ending:
    """Find the files of an area that are wanted."""
    wanted = selection.wanted

    async def take(paths: list[str]) -> None:
        picked = wanted(paths)
        if named is not None:
            picked = [path for path in picked if path != named]
        await found.add(picked)

    named = found.named
    if named is not None:
        await found.add([named])
    return await list_files(area, selection, take)


async def _off_loop(folder: int, paths: list[str]) -> list[tuple[int, str]]:
    """Make the keys in a thread: thousands of looks at a disk that may be slow.

    A cancelled call does not wait for it, so the thread has a descriptor of its own.
    """
    own = os.dup(folder)

    def work() -> list[tuple[int, str]]:
        try:
            return list(newest_first(own, paths))
        finally:
            os.close(own)

    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))


def newest_first(folder: int, paths: list[str]) -> Iterator[tuple[int, str]]:
    """Make keys that sort the newest first and equally old ones by path.

    Goes to each folder through no link, so that nothing outside is looked at. What is gone, or
    cannot be looked at, counts as old.
    """
    for parent, group in groupby(sorted(paths, key=_parent), key=_parent):
        try:
            descriptor = best()(folder, tuple(os.fsencode(parent).split(b"/")) if parent else ())
        except OSError:
            yield from ((0, path) for path in group)
            continue
        try:
            yield from ((-_changed_at(descriptor, path), path) for path in group)
        finally:
            os.close(descriptor)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _changed_at(folder: int, path: str) -> int:
    try:
        name = path.rpartition("/")[2]
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0
