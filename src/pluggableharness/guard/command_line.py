"""The command line that puts a command under a guard. Knows nothing of how it is run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GRACE_S = 2.0
"""Seconds from TERM to KILL when the tree is told to end (C11, K16)."""

# A script would be compiled anew at each start, which costs more than all the guard does; as a
# module it comes from the cache.
_PROGRAM = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
    "import watch; watch.run_from_arguments()"
)


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds a command in (C14); whoever makes it owns its descriptors.

    `prefix` is a program and its arguments that run the guard, with the `descriptors` that they
    name: a guard in a sandbox with a PID namespace is that namespace's first process, with
    which all of it ends. `rules` (a ruleset of Landlock) and `filter` (a file that holds a
    seccomp program) are taken on by the command alone; -1 is none.
    """

    prefix: tuple[str, ...] = ()
    descriptors: tuple[int, ...] = ()
    rules: int = -1
    filter: int = -1

    @property
    def inherited(self) -> tuple[int, ...]:
        """The descriptors that the guard's process is to get."""
        own = (one for one in (self.rules, self.filter) if one >= 0)
        return (*self.descriptors, *own)


UNCONFINED = Confinement()


def guarded(
    argv: Sequence[str],
    *,
    lifeline: int,
    status: int,
    grace_s: float = GRACE_S,
    confinement: Confinement = UNCONFINED,
    folder: tuple[int, int] | None = None,
) -> list[str]:
    """Return the command line that runs `argv` under a guard (K16).

    Pass both descriptors on (`pass_fds`), and those that the confinement says are inherited,
    none of them 0, 1 or 2, and never run it with a `preexec_fn`. The command gets stdin, stdout,
    stderr, environment and working directory of the new process, in a session of its own, and
    no other descriptor.

    - `lifeline`: the read end of a pipe whose write end only the starter holds. A byte written
      to it ends the tree: TERM, `grace_s` seconds, KILL. End-of-file means that the starter is
      gone: the same with at most one second. A SIGTERM to the guard is like a byte.
    - `status`: the write end of a pipe on which the guard reports a line each: `started PID`,
      or `failed ERRNO` when the command could not be executed, or `broken WHY` when the guard
      could not do its work; then `exit CODE` or `signal NUMBER` as soon as the command itself
      has ended. End-of-file means that nothing of the tree is left.

    `folder` is device and inode of the only folder to run the command in, however the process
    got there; in another one nothing is run, and `failed` says ESTALE (K10a).

    The guard's own exit code is the command's, or 128 + the signal's number, or 127.
    """
    if not argv or not sys.executable:
        raise ValueError("a guard needs a command to run, and the interpreter that runs itself")
    interpreter = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM]
    descriptors = (lifeline, status, confinement.rules, confinement.filter)
    meant = "" if folder is None else f"{folder[0]}:{folder[1]}"
    numbers = (*map(str, descriptors), str(grace_s))
    return [*confinement.prefix, *interpreter, *numbers, meant, *argv]
