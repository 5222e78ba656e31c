"""The file that keeps a command's whole output when what the model sees is cut (C10)."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

FOLDERS: Final = (".agent", "outputs")
LARGEST: Final = 1024**3
"""Bytes that are kept of one command's output."""

_UNCACHE_EVERY: Final = 16 * 1024**2
_UNCACHE_REACH: Final = 64 * 1024**2
"""How much is written between two requests to drop what is on disk by now from the page cache,
and how far back each reaches. Without them the cache takes a gigabyte from everyone else, and a
virtual machine spends more time on getting that memory than on all the rest of the output."""

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class OutputFile:
    """A file below the working directory's `.agent/outputs/`, for its owner alone.

    What keeps it from being made or written costs the command nothing: `problem` says it. The
    folder holds a `.gitignore` of its own and nothing of `.agent` itself is touched, since a
    project may well keep the rest of that folder in git. A thread of its own does the writing,
    so that neither a slow disk nor a gigabyte holds up the loop.
    """

    def __init__(self, working_directory: Path) -> None:
        self.name = "/".join((*FOLDERS, _new_name()))
        """The path from the working directory, which is how read_file takes it."""
        self.problem: str | None = None
        self._left = LARGEST
        self._uncached_at = LARGEST
        self._descriptor = -1
        self._thread = ThreadPoolExecutor(1)
        self._last: asyncio.Future[None] | None = None
        try:
            self._descriptor = _create(working_directory, Path(self.name).name)
        except OSError as error:
            self._fail(error)

    @property
    def exists(self) -> bool:
        """Whether there is a file at all."""
        return self._descriptor >= 0

    async def write(self, data: bytes) -> None:
        """Add bytes, as far as they fit; waits until those before them are written.

        The bytes are on their way already when it waits, so a cancel makes no gap.
        """
        before = self._last
        self._last = asyncio.get_running_loop().run_in_executor(self._thread, self._write, data)
        if before:
            await asyncio.shield(before)

    async def settle(self) -> None:
        """Wait until everything is written, or known not to be."""
        if self._last:
            await asyncio.shield(self._last)

    def close(self) -> None:
        """Close the file once all is written; it stays where it is. Does not wait."""
        if self.exists:
            self._thread.submit(os.close, self._descriptor)
        self._thread.shutdown(wait=False)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)[: self._left]
        self._left -= len(rest)
        if len(rest) < len(data) and not self.problem:
            self.problem = f"{self.name} holds the first {LARGEST:,} bytes only"
        try:
            while rest and self.exists:
                rest = rest[os.write(self._descriptor, rest) :]
            self._uncache()
        except OSError as error:
            self._left = 0
            self._fail(error)

    def _uncache(self) -> None:
        if self._uncached_at - self._left >= _UNCACHE_EVERY:
            self._uncached_at = self._left
            start = max(0, LARGEST - self._left - _UNCACHE_REACH)
            os.posix_fadvise(self._descriptor, start, _UNCACHE_REACH, os.POSIX_FADV_DONTNEED)

    def _fail(self, error: OSError) -> None:
        what = f"{self.name} is incomplete" if self.exists else "the whole output was not kept"
        self.problem = f"{what}: {error.strerror}"


def _new_name() -> str:
    """Return a name that sorts by time."""
    now = time.time()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
    return f"{stamp}{int(now * 1000) % 1000:03d}Z-{os.urandom(4).hex()}.txt"


def _create(working_directory: Path, name: str) -> int:
    """Create the file and the folders above it, through no symbolic link."""
    folder = os.open(working_directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in FOLDERS:
            outer, folder = folder, _enter(folder, step)
            os.close(outer)
        _ignore_in_git(folder)
        return os.open(name, _FILE_FLAGS, 0o600, dir_fd=folder)
    finally:
        os.close(folder)


def _enter(folder: int, name: str) -> int:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        pass
    return os.open(name, _FOLDER_FLAGS, dir_fd=folder)


def _ignore_in_git(folder: int) -> None:
    try:
        descriptor = os.open(".gitignore", _FILE_FLAGS, 0o600, dir_fd=folder)
    except FileExistsError:
        return
    os.write(descriptor, b"*\n")
    os.close(descriptor)
