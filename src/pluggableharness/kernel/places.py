"""Where the paths of a call lead, as the system says (K5a, K10a).

Looks and never opens: names are looked up and links are read, so that no device, pipe or folder
is touched by it. Which texts are paths is policy's to say; what a place means, too.
"""

import asyncio
import os
import re
import select
import stat
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.policy import Target, targets

LONGEST_LOOK_S: Final = 2.0
"""A file system that has not answered by then, a dead server's say, counts as one that does not
tell: the call is asked about, and the kernel goes on."""

# The system's own limits.
_LINKS: Final = 40
_LONGEST: Final = 4096

_MOUNTS: Final = "/proc/self/mountinfo"
_NEAR: Final = frozenset(
    {
        *("bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "squashfs", "xfs", "zfs"),
        *("cgroup", "cgroup2", "devpts", "devtmpfs", "overlay", "ramfs", "sysfs", "tmpfs"),
    }
)
"""File systems of this machine, which answer at once; any other may wait for somebody."""

_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_NONE: Final[frozenset[str]] = frozenset()


async def located(call: Call) -> Call:
    """The call with where its paths lead."""
    here, wanted = call.context.working_directory, list(targets(call))
    if not wanted:
        return call
    try:
        return replace(call, places=places(here, wanted, _mounts().distant()))
    except _Distant:
        pass  # then a thread waits for it, at several times the price
    try:
        looking = _looker().looked_up(here, wanted)
        return replace(call, places=await asyncio.wait_for(looking, LONGEST_LOOK_S))
    except TimeoutError:
        _looker.cache_clear()  # that one hangs; nothing waits for it, not even an exit
        return replace(call, places={target.absolute: "" for target in wanted})


class _Distant(Exception):
    """A path leads into a file system that may not answer."""


class _Mounts:
    """Where file systems are mounted that may not answer; read anew when mounts have changed."""

    def __init__(self) -> None:
        self._changes = select.poll()
        try:
            self._changes.register(os.open(_MOUNTS, os.O_RDONLY), select.POLLPRI)
            self._distant = _distant_mounts()
        except OSError:
            self._distant = frozenset([""])  # nothing is known to be near

    def distant(self) -> frozenset[str]:
        """Their real paths, "" being the root."""
        if self._changes.poll(0):
            self._distant = _distant_mounts()
        return self._distant


def _distant_mounts() -> frozenset[str]:
    found = set()
    # Only a line feed ends a line: all else that splitlines takes for an end may be in a name.
    for line in os.fsdecode(Path(_MOUNTS).read_bytes()).split("\n")[:-1]:
        mount, _, source = line.partition(" - ")
        if source.partition(" ")[0] not in _NEAR:
            path = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), mount.split(" ")[4])
            found.add(path.rstrip("/"))
    return frozenset(found)


@cache
def _mounts() -> _Mounts:
    return _Mounts()


class _Looker:
    """A thread that looks, so that a file system which does not answer holds up no other."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[_Asked] = SimpleQueue()
        threading.Thread(target=self._run, name="places", daemon=True).start()

    def looked_up(self, here: str, wanted: list[Target]) -> "asyncio.Future[dict[str, str]]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[dict[str, str]] = loop.create_future()
        self._asked.put((here, wanted, answer))
        return answer

    def _run(self) -> None:
        while True:
            here, wanted, answer = self._asked.get()
            found = places(here, wanted)
            try:
                answer.get_loop().call_soon_threadsafe(_settle, answer, found)
            except RuntimeError:
                pass  # that loop is closed: nobody waits any more


_Asked = tuple[str, list[Target], "asyncio.Future[dict[str, str]]"]


@cache
def _looker() -> _Looker:
    return _Looker()


def _settle(answer: "asyncio.Future[dict[str, str]]", found: dict[str, str]) -> None:
    if not answer.done():
        answer.set_result(found)


def places(
    working_directory: str, wanted: list[Target], distant: frozenset[str] = _NONE
) -> dict[str, str]:
    """From each target's absolute path, and the working directory, to the real path.

    "" is for what cannot be told; what only looks like a path, and leads nowhere, is left out.
    Raises _Distant before it looks into one of the `distant` mounts.
    """
    here = real_path(working_directory, distant)
    found: dict[str, str] = {}
    for target in wanted:
        path = target.absolute
        if path not in found and (target.told or _begins(working_directory, here, target, distant)):
            found[path] = real_path(path, distant)
    return {working_directory: here, **found} if found else {}


def _begins(working_directory: str, real: str, target: Target, distant: frozenset[str]) -> bool:
    """Whether the first name of what only looks like a path is there: else it leads nowhere."""
    below = working_directory.rstrip("/") + "/"
    inside = target.absolute.startswith(below)
    first = target.absolute[len(below) if inside else 1 :].lstrip("/").partition("/")[0]
    path = f"{real.rstrip('/') if inside else ''}/{first}"
    if path in distant:
        raise _Distant
    return first not in ("", "..") and os.path.lexists(path)


def real_path(path: str, distant: frozenset[str] = _NONE) -> str:
    """An absolute path without links and `..`, as the system would go; the end need not exist.

    "" for one that goes in circles, is longer than the system takes, or goes through the view of
    processes (procfs), where the same name leads each process elsewhere. Raises _Distant before it
    looks into a `distant` mount.
    """
    if len(path) > _LONGEST:
        return ""
    at, links = "", 0
    pending = path.split("/")[::-1]
    while pending:
        if at in distant:
            raise _Distant
        name = pending.pop()
        if name in ("", "."):
            continue
        if name == "..":
            at = at.rpartition("/")[0]
            continue
        if not at and name == "proc":
            return ""
        step = f"{at}/{name}"
        target = None if step in distant else _link(step)
        if target is None:
            at = step
            continue
        links += 1
        if links > _LINKS:
            return ""
        at = "" if target.startswith("/") else at
        pending.extend(target.split("/")[::-1])
    return at or "/"


def _link(path: str) -> str | None:
    """What a link says; None for anything else, and for what is not there."""
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else None
    except (OSError, ValueError):
        return None
