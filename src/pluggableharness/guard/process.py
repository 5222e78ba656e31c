"""A guarded process as asyncio sees it: started, ended, gone.

Built on Popen and the guard's own reports, not on asyncio's subprocesses: those wait for each
child in a thread on Python 3.11, and know only one end where a guarded process has two.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pluggableharness.guard.command_line import GRACE_S, UNCONFINED, Confinement, guarded


class GuardLost(RuntimeError):
    """The guard itself was killed or could not work, so how the command ended is not known."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended (C10).

    `exit_code` is its own, or 128 + n when signal number n ended it; `signal` is that signal's
    name, such as "SIGKILL".
    """

    exit_code: int
    signal: str | None = None


async def start(
    argv: Sequence[str],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    grace_s: float = GRACE_S,
    confinement: Confinement = UNCONFINED,
    folder: tuple[int, int] | None = None,
) -> "GuardedProcess":
    """Start a command under a guard and return once it is running (K16).

    The streams are as `subprocess.Popen` takes them, PIPE included. `folder` is device and
    inode of what `cwd` has to be. Raises the OSError that kept the command from being executed,
    with the program or the folder as its `filename`, and GuardLost when the guard could not work.
    """
    lifeline_r, lifeline_w = os.pipe()
    status_r, status_w = os.pipe()
    try:
        command_line = guarded(
            argv,
            lifeline=lifeline_r,
            status=status_w,
            grace_s=grace_s,
            confinement=confinement,
            folder=folder,
        )
        guard = subprocess.Popen(  # noqa: ASYNC220  # a vfork and an exec; see the module's docstring
            command_line,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            pass_fds=(lifeline_r, status_w, *confinement.inherited),
        )
    except BaseException:
        os.close(lifeline_w)
        os.close(status_r)
        raise
    finally:
        os.close(lifeline_r)
        os.close(status_w)
    process = GuardedProcess(guard, argv[0], lifeline_w, status_r)
    await process.started()
    return process


class GuardedProcess:
    """A command under its guard. `stdin`, `stdout` and `stderr` are Popen's."""

    def __init__(
        self, guard: subprocess.Popen[bytes], program: str, lifeline: int, status: int
    ) -> None:
        self.pid = 0
        """The command's own process id, from `start` on; as its PID namespace counts."""
        self.stdin, self.stdout, self.stderr = guard.stdin, guard.stdout, guard.stderr
        self._guard = guard
        self._program = program
        self._lifeline = lifeline
        self._status = status
        self._unread = b""
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.create_future()
        self._ended: asyncio.Future[Ending] = self._loop.create_future()
        self._gone = self._loop.create_future()
        self._loop.add_reader(status, self._on_status)

    async def started(self) -> None:
        """Wait until the command runs; where it does not, or nobody waits, nothing is left of it.

        Raises as `start` does.
        """
        try:
            await asyncio.shield(self._started)
        except BaseException:
            self.stop()
            await self.gone()
            for stream in (self.stdin, self.stdout, self.stderr):
                if stream is not None:
                    stream.close()
            raise

    async def ended(self) -> Ending:
        """Wait until the command itself has ended; what it left behind may still be ending.

        Raises GuardLost when that cannot be known.
        """
        return await asyncio.shield(self._ended)

    async def gone(self) -> None:
        """Wait until neither the command nor anything that it started is left."""
        await asyncio.shield(self._gone)

    @property
    def is_gone(self) -> bool:
        """Whether nothing of the tree is left."""
        return self._gone.done()

    @property
    def ending(self) -> Ending | None:
        """How the command ended, or None while it runs. Raises GuardLost like `ended`."""
        return self._ended.result() if self._ended.done() else None

    def notify(self, callback: Callable[[], object]) -> None:
        """Have `callback` called, from the loop, once it has ended and once it is gone."""
        for future in (self._ended, self._gone):
            future.add_done_callback(lambda _: callback())

    def stop(self) -> None:
        """Have everything ended: TERM, the grace, KILL. Returns at once; see `gone`."""
        if not self.is_gone:
            try:
                os.write(self._lifeline, b".")
            except BrokenPipeError:
                pass  # the guard is leaving already

    def _on_status(self) -> None:
        data = os.read(self._status, 4096)
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._on_report(*line.decode().split(" ", 1))
        if not data:
            self._on_guard_ended()

    def _on_report(self, word: str, rest: str) -> None:
        match word:
            case "started":
                self.pid = int(rest)
                self._started.set_result(None)
            case "failed":
                number = int(rest)
                self._started.set_exception(OSError(number, os.strerror(number), self._program))
            case "broken":
                self._lose(rest)
            case "exit":
                self._ended.set_result(Ending(int(rest)))
            case "signal":
                number = int(rest)
                self._ended.set_result(Ending(128 + number, signal_name(number)))

    def _on_guard_ended(self) -> None:
        self._loop.remove_reader(self._status)
        os.close(self._status)
        os.close(self._lifeline)
        # The guard closed its end while it exited, so this does not wait.
        code = self._guard.wait()
        self._lose(f"the guard of {self._program} ended ({code}) without a report")
        self._gone.set_result(None)

    def _lose(self, why: str) -> None:
        for future in (self._started, self._ended):
            if not future.done():
                future.set_exception(GuardLost(why))
                future.exception()  # nobody need ask


def signal_name(number: int) -> str:
    """Return a signal's name, such as "SIGKILL"; those in real time have only numbers."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
