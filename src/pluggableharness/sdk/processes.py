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
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path
from typing import Final, Literal

from pluggableharness.guard import Ending, GuardedProcess, GuardLost, start

__all__ = ["Child", "Chunk", "Ending", "GuardLost", "Stream", "running"]

Stream = Literal["stdout", "stderr"]

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
) -> AsyncIterator[Child]:
    """Run a command while the block runs, and have everything gone when it is left (C11).

    `stdin` is a descriptor; by default the command finds it empty. After `timeout_s` seconds
    the command is stopped and `timed_out` is set; the events go on until all is gone.

    Raises:
        OSError: the command cannot be executed; `filename` is the program or the folder.
        GuardLost: the guard was killed or could not work.
    """
    with _Pipe("stdout") as stdout, _Pipe("stderr") as stderr:
        process = await start(
            argv, cwd=cwd, env=env, stdin=stdin, stdout=stdout.write_end, stderr=stderr.write_end
        )
        stdout.close_write_end()
        stderr.close_write_end()
        child = Child(process, (stdout, stderr))
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

    def __init__(self, process: GuardedProcess, pipes: Sequence[_Pipe]) -> None:
        self.timed_out = False
        """Whether the command ran out of its time and was stopped for it."""
        self.ending: Ending | None = None
        """How the command ended, once that event has come."""
        self._process = process
        self._pipes = list(pipes)
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
            event = self._chunk() or self._new_ending()
            if event:
                return event
            if gone:
                raise StopAsyncIteration
            await self._news()

    def _chunk(self) -> Chunk | None:
        for pipe in tuple(self._pipes):
            data = pipe.read()
            if data:
                self._pipes.append(self._pipes.pop(self._pipes.index(pipe)))
                return Chunk(data, pipe.stream)
            if data is not None:
                self._pipes.remove(pipe)
        return None

    def _new_ending(self) -> Ending | None:
        if self.ending is None:
            self.ending = self._process.ending
            return self.ending
        return None

    async def _news(self) -> None:
        """Wait until there is something to read, or the process has ended or is gone."""
        loop = asyncio.get_running_loop()
        for pipe in self._pipes:
            loop.add_reader(pipe.read_end, self._wake.set)
        try:
            await self._wake.wait()
            self._wake.clear()
        finally:
            for pipe in self._pipes:
                loop.remove_reader(pipe.read_end)

    def _time_out(self) -> None:
        if self._process.ending is None:
            self.timed_out = True
            self.stop()


class _Pipe:
    """One output stream of a child."""

    def __init__(self, stream: Stream) -> None:
        self.stream: Stream = stream
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        try:
            fcntl(self.write_end, F_SETPIPE_SZ, READ_BYTES)
        except OSError:
            pass  # the user's share of pipe memory is used up; it works with less

    def __enter__(self) -> _Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.read_end)
        self.close_write_end()

    def close_write_end(self) -> None:
        """Leave the write end to the child alone."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def read(self) -> bytes | None:
        """Return what is there; None if nothing is yet, empty at the end."""
        try:
            return os.read(self.read_end, READ_BYTES)
        except BlockingIOError:
            return None
