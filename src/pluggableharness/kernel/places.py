"""Where the paths of a call lead, as the system says (K5a, K10a).

Looks and never opens: names are looked up and links are read, so that no device, pipe or folder
is touched by it. Which texts are paths is policy's to say; what a place means, too.
"""

import asyncio
import os
import stat
import threading
from dataclasses import replace
from functools import cache
from queue import SimpleQueue
from typing import Final

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.policy import Target, targets

LONGEST_LOOK_S: Final = 2.0
"""A file system that has not answered by then, a dead server's say, counts as one that does not
tell: the call is asked about, and the kernel goes on."""

_LINKS: Final = 40  # the system's own limit


async def located(call: Call) -> Call:
    """The call with where its paths lead; a read's as it is, without any look."""
    if call.operation.kind is not Kind.RESOURCE:
        return call
    here = call.context.working_directory
    wanted = [target for target in targets(call) if target.told or _begins(here, target)]
    if not wanted:
        return call
    try:
        looking = _looker().looked_up(here, wanted)
        return replace(call, places=await asyncio.wait_for(looking, LONGEST_LOOK_S))
    except TimeoutError:
        _looker.cache_clear()  # that one hangs; nothing waits for it, not even an exit
        return replace(call, places={target.absolute: "" for target in wanted})


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


def places(working_directory: str, wanted: list[Target]) -> dict[str, str]:
    """From each target's absolute path, and the working directory, to the real path.

    "" is for what cannot be told.
    """
    paths = {working_directory, *(target.absolute for target in wanted)}
    return {path: real_path(path) for path in paths}


def _begins(working_directory: str, target: Target) -> bool:
    """Whether the first name of what only looks like a path is there: else it leads nowhere."""
    below = working_directory.rstrip("/") + "/"
    start = below if target.absolute.startswith(below) else "/"
    first = target.absolute[len(start) :].lstrip("/").partition("/")[0]
    return first not in ("", "..") and os.path.lexists(start + first)


def real_path(path: str) -> str:
    """An absolute path without links and `..`, as the system would go; the end need not exist.

    "" for one that goes in circles, or through the view of processes (procfs), where the same
    name leads each process elsewhere.
    """
    at, links = "", 0
    pending = path.split("/")[::-1]
    while pending:
        name = pending.pop()
        if name in ("", "."):
            continue
        if name == "..":
            at = at.rpartition("/")[0]
            continue
        if not at and name == "proc":
            return ""
        target = _link(f"{at}/{name}")
        if target is None:
            at = f"{at}/{name}"
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
