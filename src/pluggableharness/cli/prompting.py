"""Where the prompt of a run comes from: the command line, standard input, or both."""

import asyncio
import os
import stat
from typing import TextIO

from pluggableharness.cli.complaining import complain
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.frontends.readable import readable

_MOST_BYTES = 4 * 1024 * 1024
_PATIENCE_S = 60.0
_MOMENT_S = 2.0
_WHAT_TO_DO = (
    "Give a PROMPT, pipe one in, play a script with --script FILE, or begin a conversation by "
    "running `harness run` in a terminal"
)


def at_terminal() -> bool:
    """Whether a person can hold a conversation: a terminal to read from, and one to write to."""
    return os.isatty(0) and os.isatty(1)


async def read_prompt(stdin: TextIO | None, patience_s: float = _PATIENCE_S) -> str:
    """The whole of standard input as a prompt. Raises UsageError when there is none."""
    prompt = await piped_prompt(stdin, patience_s)
    if prompt is None:
        raise UsageError(f"what is to be done? {_WHAT_TO_DO}")
    return prompt


async def with_piped(prompt: str, stdin: TextIO | None, moment_s: float = _MOMENT_S) -> str:
    """The prompt, and set apart behind it what a pipe or a file on standard input holds.

    A pipe from which nothing comes for `moment_s` seconds is taken for one that was only
    inherited: it is left out, which is said on stderr. Raises what `piped_prompt` does.
    """
    if stdin is None or not _is_pipe_or_file(stdin.fileno()):
        return prompt
    try:
        await asyncio.wait_for(readable(stdin.fileno()), moment_s)
    except TimeoutError:
        complain(
            f"nothing came on standard input for {moment_s:g} s, so only the PROMPT is sent. For "
            "what takes longer, write it to a file first; < /dev/null says that there is nothing",
            kind="notice",
        )
        return prompt
    piped = await piped_prompt(stdin)
    return prompt if piped is None else f"{prompt}\n\n<stdin>\n{piped}\n</stdin>"


def _is_pipe_or_file(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False  # closed
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


async def piped_prompt(stdin: TextIO | None, patience_s: float = _PATIENCE_S) -> str | None:
    """What standard input has to say; None when it was closed, is a terminal, or is empty.

    Raises UsageError when it stays silent for `patience_s` seconds though it is open, is no
    text, or does not end.
    """
    if stdin is None or stdin.isatty():
        return None
    data = bytearray()
    while piece := await _piece(stdin.fileno(), patience_s):
        data += piece
        if len(data) > _MOST_BYTES:
            raise UsageError("the prompt on standard input is longer than 4 MiB; name a file in it")
    try:
        return data.decode().strip() or None
    except UnicodeDecodeError as error:
        raise UsageError(f"the prompt on standard input is no UTF-8 text: {error}") from error


async def _piece(descriptor: int, patience_s: float) -> bytes:
    """What comes next; nothing at the end. A pipe that stays silent is no reason to hang."""
    try:
        await asyncio.wait_for(readable(descriptor), patience_s)
    except TimeoutError as error:
        raise UsageError(
            f"nothing came on standard input for {patience_s:g} s. {_WHAT_TO_DO}"
        ) from error
    try:
        return os.read(descriptor, _MOST_BYTES)
    except OSError:
        return b""  # closed
