"""A person's own editor, on a private file, with the terminal lent to it (K10).

While it runs it is the one to hear the interrupt key. However it ends, the file is removed, by the
next harness if this one was killed, and the terminal's mode is what it was.
"""

import asyncio
import os
import shlex
import signal
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pluggableharness.kernel.frontends.leaving import undone
from pluggableharness.kernel.private import PrivateDirectory
from pluggableharness.kernel.regular import opened

_FILE = "arguments.toml"
_MOST_BYTES = 16 * 1024 * 1024
_GRACE_S = 2.0
_KEYS = (signal.SIGINT, signal.SIGQUIT)


class NotEdited(Exception):
    """The editor left nothing to take over, and why."""


class BrokenOff(NotEdited):
    """The editor was ended, and could not leave the screen as it was."""


def editor_of(environ: Mapping[str, str]) -> str:
    """The command of the editor that a person has chosen, "" for none.

    That is VISUAL, but on a terminal that cannot draw a screen, and else EDITOR.
    """
    dumb = environ.get("TERM", "") in ("", "dumb")
    chosen = "" if dumb else environ.get("VISUAL", "").strip()
    return chosen or environ.get("EDITOR", "").strip()


async def edited(text: str, environ: Mapping[str, str], terminal: int) -> str:
    """The text as the editor of `environ`, which reads keys from `terminal`, has saved it.

    Raises NotEdited when it cannot be started, fails, is ended, or leaves no text.
    """
    editor = editor_of(environ)
    try:
        command = shlex.split(editor)
        directory = PrivateDirectory(longest=None)
    except (ValueError, OSError) as error:
        raise NotEdited(f"{editor}: {error}") from error
    with undone(directory.remove):
        path = os.path.join(directory.path, _FILE)
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
            await _run([*command, path], environ, terminal)
            return _saved(path)
        except OSError as error:
            raise NotEdited(f"{editor}: {error.strerror}") from error
        except termios.error as error:
            raise NotEdited("the terminal is gone") from error
        except UnicodeDecodeError as error:
            raise NotEdited("what was saved is no UTF-8 text") from error


def _saved(path: str) -> str:
    with opened(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise NotEdited("what was saved is larger than 16 MiB")
    return data.decode()


async def _run(command: Sequence[str], environ: Mapping[str, str], terminal: int) -> None:
    """Run the editor to its end. Raises OSError and NotEdited."""
    usual = termios.tcgetattr(terminal)
    process = subprocess.Popen(command, stdin=terminal, env=environ)  # noqa: ASYNC220  # for a person
    with undone(process.kill):
        ending = asyncio.ensure_future(_ended(process, terminal, usual))
        try:
            code = await asyncio.shield(ending)
        except asyncio.CancelledError:
            process.terminate()
            process.send_signal(signal.SIGCONT)  # a stopped one hears nothing
            await asyncio.wait([ending], timeout=_GRACE_S)
            process.kill()
            await ending
            raise
    if code < 0:
        raise BrokenOff(f"the editor was ended by {_name(-code)}")
    if code:
        raise NotEdited(f"the editor ended with exit code {code}")


async def _ended(process: "subprocess.Popen[bytes]", terminal: int, usual: list[Any]) -> int:
    """The editor's exit code. While it is stopped the keys of the terminal lead out of it.

    `usual` is the mode of the terminal before the editor changed it.
    """
    while True:
        with _deaf_to_keys():
            change = await asyncio.to_thread(_change, process.pid, os.WSTOPPED)
        if change != os.CLD_STOPPED:
            return process.wait()
        with _usual_keys(terminal, usual):
            await asyncio.to_thread(_change, process.pid, os.WCONTINUED)


def _change(pid: int, kind: int) -> int:
    """Wait for a change of that kind, or the end: what has come to be, as `waitid` says it."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | kind)
    return found.si_code if found else os.CLD_EXITED


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


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
