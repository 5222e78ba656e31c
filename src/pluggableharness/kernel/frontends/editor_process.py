"""An editor as a process: the keys of the terminal are its own while it runs, and where it is
broken off all that it started ends with it (K10, K17).

It stays in our process group, so that stopping it stops us as well, and the shell has the terminal.
"""

import asyncio
import os
import select
import signal
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from glob import glob
from pathlib import Path
from typing import Any

_GRACE_S = 2.0
_KEYS = (signal.SIGINT, signal.SIGQUIT)
_AS_USUAL = (*_KEYS, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that we ignore, we or Python, and that the editor is not to ignore with us."""


class EditorProcess:
    """One run of an editor, which reads keys from `terminal`."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], terminal: int) -> None:
        self._command = list(command)
        self._environ = environ
        self._terminal = terminal
        self._pid = 0
        """0 before it is started, and again once it is no more."""

    async def run(self) -> int:
        """Start it and wait for its end: its exit code, or the negative number of a signal.

        While it is stopped the keys of the terminal lead out of it. Raises OSError when it cannot
        be started, and termios.error where the terminal is gone.
        """
        usual = termios.tcgetattr(self._terminal)
        while True:
            with _deaf_to_keys():
                self._pid = self._pid or self._start()
                change = await asyncio.to_thread(_change, self._pid, os.WSTOPPED)
            if change != os.CLD_STOPPED:
                pid, self._pid = self._pid, 0
                return _exit_code(pid)
            with _usual_keys(self._terminal, usual):
                await asyncio.to_thread(_change, self._pid, os.WCONTINUED)

    def _start(self) -> int:
        """No Popen: the editor has to hear the keys that we ignore by then."""
        return os.posix_spawnp(
            self._command[0],
            self._command,
            self._environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, self._terminal, 0)],
            setsigdef=_AS_USUAL,
        )

    async def end(self) -> None:
        """Have it end with all that it started, and kill what has not within a grace."""
        with self._family() as family:
            _signal(family, signal.SIGTERM)
            _signal(family, signal.SIGCONT)  # a stopped one hears nothing
            await asyncio.to_thread(_await_ends, family, _GRACE_S)
            _signal(family, signal.SIGKILL)

    def kill(self) -> None:
        """End it at once with all that it started; nothing where it has ended."""
        with self._family() as family:
            _signal(family, signal.SIGKILL)

    @contextmanager
    def _family(self) -> Iterator[list[int]]:
        """Descriptors of the process and of all below it, none of which another can come to be."""
        members = [self._pid] if self._pid else []
        for member in members:  # which grows meanwhile
            for children in glob(f"/proc/{member}/task/*/children"):
                with suppress(OSError):
                    members += map(int, Path(children).read_text().split())
        with ExitStack() as held:
            family = []
            for member in members:
                with suppress(ProcessLookupError):
                    family.append(os.pidfd_open(member))
                    held.callback(os.close, family[-1])
            yield family


def _signal(family: Sequence[int], number: signal.Signals) -> None:
    for member in family:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(member, number)


def _await_ends(family: Sequence[int], within_s: float) -> None:
    until = time.monotonic() + within_s
    for member in family:
        ended = select.poll()
        ended.register(member, select.POLLIN)
        ended.poll(max(0.0, until - time.monotonic()) * 1000)


def _exit_code(pid: int) -> int:
    """How a process has ended, which is no more from then on."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _change(pid: int, kind: int) -> int:
    """Wait for a change of that kind, or the end: what has come to be, as `waitid` says it."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | kind)
    return found.si_code if found else os.CLD_EXITED


@contextmanager
def _usual_keys(terminal: int, usual: list[Any]) -> Iterator[None]:
    """Have the terminal in its usual mode for the length of a block.

    An editor that has changed the mode since is not interfered with.
    """
    its_own = termios.tcgetattr(terminal)
    termios.tcsetattr(terminal, termios.TCSANOW, usual)
    yield
    if termios.tcgetattr(terminal) == usual:
        termios.tcsetattr(terminal, termios.TCSANOW, its_own)


@contextmanager
def _deaf_to_keys() -> Iterator[None]:
    """Ignore what the keys of the terminal send to all its processes: it is for the editor.

    Only the main thread may say so; elsewhere nobody listens to these signals either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {key: signal.signal(key, signal.SIG_IGN) for key in _KEYS}
    try:
        yield
    finally:
        for key, handler in before.items():
            signal.signal(key, handler or signal.SIG_DFL)
            signal.siginterrupt(key, False)
