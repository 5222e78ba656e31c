"""Starting a program that can open nothing but what is beneath some folders (C1).

ripgrep walks by names, and a folder that it has just listed may be a link by the time it goes
in. No check before or after can rule that out; Landlock can: the system itself refuses whatever
is not beneath the folders, wherever a link leads. The restriction is that of a thread and of
what it starts, so it is taken on by a thread that starts the program and is gone.
"""

import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypedDict

from pluggableharness.sdk import landlock

_EVERYTHING: Final = (1 << 13) - 1
"""The accesses that the first version of Landlock knows; each of them needs a rule."""


def can_confine() -> bool:
    """Tell whether this system has Landlock: Linux 5.13, unless it is switched off."""
    return landlock.version() > 0


@dataclass(frozen=True, slots=True)
class Reach:
    """What a program may open: descriptors of folders and files, O_PATH will do."""

    readable: Sequence[int]
    executable: Sequence[int]
    """The program itself and what loads it; they can be read as well."""


class Streams(TypedDict):
    """The descriptors that a program has for its own."""

    stdin: int
    stdout: int
    stderr: int


@dataclass(slots=True)
class _Start:
    """What one thread does, and how it ended."""

    argv: Sequence[str | bytes]
    folder: int
    reach: Reach
    streams: Streams
    process: subprocess.Popen[bytes] | None = None
    failure: list[BaseException] = field(default_factory=list)

    def run(self) -> None:
        try:
            if can_confine():
                _confine(self.reach)
            # The child goes there by its own copy of the descriptor: no name can lead astray.
            folder = f"/proc/self/fd/{self.folder}"
            self.process = subprocess.Popen(self.argv, cwd=folder, env={}, **self.streams)
        except BaseException as error:
            self.failure.append(error)


def start(
    argv: Sequence[str | bytes], *, folder: int, reach: Reach, streams: Streams
) -> subprocess.Popen[bytes]:
    """Start a program in an open folder, with an empty environment and within `reach`.

    Where the system cannot confine, the program is not; ask `can_confine`. Raises OSError as
    Popen does.
    """
    starting = _Start(argv, folder, reach, streams)
    # The loop waits for it: that takes what a Popen on the loop would take, half a millisecond.
    thread = threading.Thread(target=starting.run, name="start-confined")
    thread.start()
    thread.join()
    if starting.process is None:
        raise starting.failure[0]
    return starting.process


def _confine(reach: Reach) -> None:
    """Restrict this thread, and with it what it starts, for good."""
    rules = landlock.new_ruleset(_EVERYTHING)
    try:
        for descriptor in reach.readable:
            landlock.allow(rules, descriptor, landlock.READ_FILE | landlock.READ_FOLDER)
        for descriptor in reach.executable:
            landlock.allow(rules, descriptor, landlock.READ_FILE | landlock.EXECUTE)
        landlock.take_on(rules)
    finally:
        os.close(rules)
