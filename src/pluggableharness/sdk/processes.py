"""Children that leave nothing behind: run a command, see its output, be sure of its end.

    async with running(["make", "test"], cwd=folder, env=environment, timeout_s=60) as child:
        async for event in child:
            match event:
                case Chunk(data, stream): ...
                case Ending(exit_code, signal): ...

The command runs under a guard (K16): once the block is left, however it is left, neither it nor
anything that it started is there any more, and if this process is killed they end with it.
"""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path
from typing import Final, Literal

from pluggableharness.guard import Confinement, Ending, GuardedProcess, GuardLost, start

__all__ = ["Child", "Chunk", "Confinement", "Ending", "GuardLost", "Stream", "running"]

Stream = Literal["stdout", "stderr"]

_STREAMS: Final[tuple[Stream, ...]] = ("stdout", "stderr")

READ_BYTES: Final = 1024 * 1024
"""What one read asks for and what a pipe is made to hold, where its owner may: fewer, larger
steps are what the speed of long output hangs on."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Output as it was read, at most 1 MiB, cut anywhere: also within a line or a character."""

    data: bytes
    stream: Stream


@asynccontextmanager
async def running(
    argv: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
    timeout_s: float | None = None,
    confinement: Confinement | None = None,
    folder: tuple[int, int] | None = None,
) -> AsyncIterator[Child]:
    """Run a command while the block runs, and have everything gone when it is left (C11).

    `stdin` is a descriptor; by default the command finds it empty. After `timeout_s` seconds
    the command is stopped and `timed_out` is set; the events go on until all is gone.
    `confinement` puts it into a sandbox, of which nothing is known here. `folder` is device and
    inode of what `cwd` has to be: a path may lead elsewhere by the time it is used.

    Raises:
        OSError: the command cannot be executed; `filename` is the program or the folder. ESTALE
            says that the folder is another than was meant.
        GuardLost: the guard was killed or could not work.
    """
    with _Outputs() as outputs:
        process = await start(
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=outputs.write_ends["stdout"],
            stderr=outputs.write_ends["stderr"],
            confinement=confinement or Confinement(),
            folder=folder,
        )
        outputs.close_write_ends()
        child = Child(process, outputs)
        timer = timeout_s and asyncio.get_running_loop().call_later(timeout_s, child._time_out)
        try:
            yield child
        finally:
            if timer:
                timer.cancel()
            child.stop()
            await process.gone()


class Child:
    """A command that runs, as its events: chunks in order of arrival, one Ending, the rest.

    The Ending comes when the command itself has ended; after it comes what processes that it
    left behind had to say until they were ended too. Nothing is read unless the next event is
    asked for, so a slow consumer slows the command (P14).
    """

    def __init__(self, process: GuardedProcess, outputs: _Outputs) -> None:
        self.timed_out = False
        """Whether the command ran out of its time and was stopped for it."""
        self.ending: Ending | None = None
        """How the command ended, once that event has come."""
        self._process = process
        self._outputs = outputs
        self._wake = asyncio.Event()
        process.notify(self._wake.set)

    @property
    def pid(self) -> int:
        """The command's process id, which is also its group and its session."""
        return self._process.pid

    def stop(self) -> None:
        """Have everything ended: TERM, and KILL after 2 s. The events go on until all is gone."""
        self._process.stop()

    def __aiter__(self) -> Child:
        """Iterate over the events; a second loop goes on where the first one was left."""
        return self

    async def __anext__(self) -> Chunk | Ending:
        """Return the next event.

        Raises:
            GuardLost: the guard was killed, so that the ending is not known.
        """
        # Gives way each time: a flood of output is always ready to be read.
        await asyncio.sleep(0)
        while True:
            gone = self._process.is_gone
            event = self._outputs.read() or self._new_ending()
            if event:
                return event
            if gone:
                raise StopAsyncIteration
            await self._news()

    def _new_ending(self) -> Ending | None:
        if self.ending is None:
            self.ending = self._process.ending
            return self.ending
        return None

    async def _news(self) -> None:
        """Wait until there is something to read, or the process has ended or is gone."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._outputs.fileno(), self._wake.set)
        try:
            await self._wake.wait()
            self._wake.clear()
        finally:
            loop.remove_reader(self._outputs.fileno())

    def _time_out(self) -> None:
        if self._process.ending is None:
            self.timed_out = True
            self.stop()


class _Outputs:
    """The pipes of both output streams, read in the order in which they got something to read.

    That order is the kernel's: an epoll of its own, which watches all the time and tells each
    change once, lists first what was written to first, also when both were before anyone asked.
    """

    def __init__(self) -> None:
        self.write_ends: dict[Stream, int] = {}
        self._streams: dict[int, Stream] = {}
        self._ready: deque[int] = deque()
        self._epoll = select.epoll()
        for stream in _STREAMS:
            read_end, self.write_ends[stream] = os.pipe()
            self._streams[read_end] = stream
            os.set_blocking(read_end, False)
            _widen(read_end)
            self._epoll.register(read_end, select.EPOLLIN | select.EPOLLET)

    def __enter__(self) -> _Outputs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_write_ends()
        self._epoll.close()
        for read_end in self._streams:
            os.close(read_end)

    def close_write_ends(self) -> None:
        """Leave the write ends to the child alone."""
        while self.write_ends:
            os.close(self.write_ends.popitem()[1])

    def fileno(self) -> int:
        """Return a descriptor that is readable when there is news."""
        return self._epoll.fileno()

    def read(self) -> Chunk | None:
        """Return the next chunk, or None if there is nothing to read now."""
        changed = (read_end for read_end, _ in self._epoll.poll(0))
        self._ready.extend(read_end for read_end in changed if read_end not in self._ready)
        while self._ready:
            read_end = self._ready.popleft()
            data = _read(read_end)
            if len(data) == READ_BYTES:
                self._ready.append(read_end)
            # With less it is empty now, and whatever comes next is told as a change.
            if data:
                return Chunk(data, self._streams[read_end])
        return None


def _widen(pipe: int) -> None:
    try:
        fcntl(pipe, F_SETPIPE_SZ, READ_BYTES)
    except OSError:
        pass  # the user's share of pipe memory is used up; it works with less


def _read(pipe: int) -> bytes:
    """Return what is there: nothing if nothing is yet, and nothing at the end."""
    try:
        return os.read(pipe, READ_BYTES)
    except BlockingIOError:
        return b""
