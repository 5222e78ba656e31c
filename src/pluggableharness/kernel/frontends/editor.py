"""A person's own editor, on a private file, with the terminal lent to it (K10).

However it ends, the file is removed, by the next harness if this one was killed, and the terminal's
mode is what it was.
"""

import asyncio
import os
import shlex
import signal
import termios
from collections.abc import Mapping

from pluggableharness.kernel.frontends.editor_process import EditorProcess
from pluggableharness.kernel.frontends.leaving import undone
from pluggableharness.kernel.private import PrivateDirectory
from pluggableharness.kernel.regular import opened

_FILE = "arguments.toml"
_MOST_BYTES = 16 * 1024 * 1024


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
            await _run(EditorProcess([*command, path], environ, terminal))
            return _saved(path)
        except OSError as error:
            raise NotEdited(
                f"{editor}: {error.strerror}. $VISUAL or $EDITOR names your editor; without one "
                "the arguments are edited on a line here"
            ) from error
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


async def _run(editor: EditorProcess) -> None:
    """Run the editor to its end. Raises OSError, termios.error and NotEdited."""
    with undone(editor.kill):
        ending = asyncio.ensure_future(editor.run())
        try:
            code = await asyncio.shield(ending)
        except asyncio.CancelledError:
            await editor.end()
            await asyncio.gather(ending, return_exceptions=True)
            raise
    if code < 0:
        raise BrokenOff(f"the editor was ended by {_name(-code)}")
    if code:
        raise NotEdited(f"the editor ended with exit code {code}")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
