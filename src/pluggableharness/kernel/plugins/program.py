"""A program that is no provider: run once under a guard, given something, and heard out (K8).

Whatever it does, it ends with all that it started, and what it prints takes bounded memory.
"""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO, Final

from pluggableharness import guard
from pluggableharness.kernel.domain.errors import ProgramFailed
from pluggableharness.kernel.plugins.life import KILL_S
from pluggableharness.kernel.plugins.output import PipeReader
from pluggableharness.wire.handshake import INHERITED_VARIABLES

_LARGEST_ANSWER: Final = 64 * 1024
"""Bytes of standard output; a program that prints more is ended."""

_KILL_GRACE_S: Final = 0.5


async def answer_of(command: Sequence[str], given: bytes, directory: str) -> bytes:
    """What a program prints that finds `given` on its standard input; its stderr is dropped.

    It gets of the environment what providers get, and so no secret of ours (P31). It has as long
    as the caller waits: cancelled, it is ended. Raises ProgramFailed when it cannot be started,
    fails, or prints too much.
    """
    with _holding(given) as stdin:
        try:
            process = await guard.start(
                command,
                cwd=directory,
                env={name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ},
                stdin=stdin,
                stdout=subprocess.PIPE,
                grace_s=_KILL_GRACE_S,
            )
        except (OSError, ValueError, guard.GuardLost) as failure:
            raise ProgramFailed(f"{command[0]} cannot be started: {failure}") from failure
    said = bytearray()

    def heard(data: bytes) -> None:
        said.extend(data[: _LARGEST_ANSWER + 1 - len(said)])
        if len(said) > _LARGEST_ANSWER:
            process.stop()

    assert process.stdout is not None
    pipe = PipeReader(process.stdout, heard)
    try:
        ending = await process.ended()
        pipe.drain()
    except guard.GuardLost as failure:
        raise ProgramFailed(str(failure)) from failure
    finally:
        process.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_S):
                await process.gone()
        pipe.close()
    if len(said) > _LARGEST_ANSWER:
        raise ProgramFailed(f"{command[0]} says more than {_LARGEST_ANSWER // 1024} KiB")
    if ending.exit_code:
        how = f"signal {ending.signal}" if ending.signal else f"status {ending.exit_code}"
        raise ProgramFailed(f"{command[0]} ended with {how}")
    return bytes(said)


def _holding(given: bytes) -> BinaryIO:
    """A file in memory with these bytes. Unlike a pipe it never waits for its reader."""
    file = os.fdopen(os.memfd_create("given", os.MFD_CLOEXEC), "w+b")
    file.write(given)
    file.seek(0)
    return file
