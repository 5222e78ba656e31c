"""The attacker of R3: a process that swaps two names as fast as it can while a victim works.

`Siege.run(tries, …)` is the attack at any size: seconds in the tests, 20,000 tries in `sieges`.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pluggableharness.sdk.failures import ToolFailure

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_REARM_EVERY = 5
INSIDE = b"inside"
SECRET = b"secret"


def swap_forever(one: str, other: str) -> None:
    """Exchange two names atomically, over and over, until killed."""
    libc = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    print("swapping", flush=True)
    while libc.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE) == 0:
        pass
    raise OSError(ctypes.get_errno(), "the attacker cannot swap")


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the attacker on a core of its own for as long as the context lasts."""
    command = [sys.executable, __file__, str(one), str(other)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as attacker:
        try:
            assert attacker.stdout is not None
            attacker.stdout.readline()
            yield attacker
            assert attacker.poll() is None, "the attacker gave up"
        finally:
            attacker.kill()


@dataclass
class Siege:
    """A root, a secret outside it, and a name in the root that is now the one, now a link out.

    `folder`: the swapped name is a folder with `target` in it; else it is the file itself.
    """

    base: Path
    folder: bool
    seen: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = self.base / "root"
        self.outside = self.base / "outside"
        self.root.mkdir(parents=True)
        self.outside.mkdir()
        self.secret = self.outside / "target"
        self.secret.write_bytes(SECRET)
        self._x, self._y = self.root / "x", self.root / "y"
        if self.folder:
            self._x.mkdir()
            (self._x / "target").write_bytes(INSIDE)
            self._y.symlink_to(self.outside)
        else:
            self._x.write_bytes(INSIDE)
            self._y.symlink_to(self.secret)

    @property
    def target(self) -> str:
        """The path that the victim asks for, relative to the root."""
        return "x/target" if self.folder else "x"

    def run(self, tries: int, attempt: Callable[[str], bytes]) -> dict[str, int]:
        """Let the victim `attempt` the target `tries` times; count what it got by outcome.

        `attempt` returns what it read, or anything but the secret after a write.
        """
        with swapping(self._x, self._y) as attacker:
            for number in range(tries):
                self._count(attempt)
                if number % _REARM_EVERY == 0:
                    self._rearm(attacker)
        return self.seen

    def _rearm(self, attacker: subprocess.Popen[bytes]) -> None:
        """Put the link back: a victim that replaces files by rename takes it away."""
        attacker.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, attacker.pid, os.WSTOPPED | os.WNOWAIT)
        if not self._x.is_symlink() and not self._y.is_symlink():
            self._y.unlink()
            self._y.symlink_to(self.secret)
        attacker.send_signal(signal.SIGCONT)

    def _count(self, attempt: Callable[[str], bytes]) -> None:
        try:
            got = attempt(self.target)
        except ToolFailure as failure:
            outcome = failure.category.value
        else:
            assert SECRET not in got, "what lies outside was read"
            outcome = "inside"
        self.seen[outcome] = self.seen.get(outcome, 0) + 1

    def assert_nothing_outside_was_touched(self) -> None:
        """The folder outside holds the secret as it was, and nothing beside it."""
        assert [entry.name for entry in self.outside.iterdir()] == ["target"]
        assert self.secret.read_bytes() == SECRET


if __name__ == "__main__":
    swap_forever(*sys.argv[1:])
