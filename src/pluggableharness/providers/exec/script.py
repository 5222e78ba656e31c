"""How a command's text reaches the shell. Knows shells, not processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pluggableharness.sdk import InvalidArguments

LONGEST_ARGUMENT: Final = 128 * 1024 - 1
"""Bytes that Linux takes as one argument (MAX_ARG_STRLEN), without the one that ends it."""


@contextmanager
def invocation(shell: str, command: str) -> Iterator[tuple[list[str], int]]:
    """Give the command line that runs a command, and what its standard input is to be.

    A command that is too long for an argument is read as a script from standard input, which it
    then replaces by the same emptiness that any other command finds there. A file would have to
    be cleared up, and an inherited descriptor would reach every process of the command.

    Raises:
        InvalidArguments: the text cannot be given to a program.
    """
    script = program_text(command, "command")
    if len(script) <= LONGEST_ARGUMENT:
        yield [shell, "-c", command], subprocess.DEVNULL
        return
    descriptor = os.memfd_create("command")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(b"exec </dev/null; " + script)
        yield [shell, "/dev/stdin"], descriptor
    finally:
        os.close(descriptor)


def program_text(text: str, field: str) -> bytes:
    """Return text as a program can get it.

    Raises:
        InvalidArguments: it holds a NUL, or a surrogate that is half a character.
    """
    if "\0" in text:
        raise InvalidArguments(f"{field}: holds a NUL character, which no program can be given")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArguments(
            f"{field}: character {error.start + 1} is half of a surrogate pair "
            f"(U+{ord(text[error.start]):04X}); write the whole character"
        ) from None
