"""Which rules of "always" were given on this machine, noted in the user's own state (K10).

A project's file of them may have come with a clone, and anyone who writes there may have put a rule
into it. What is noted is each rule's text, bound to the project's directory.
"""

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from pluggableharness.kernel.config.writing import replace_file
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.regular import opened

_LARGEST: Final = 1 << 20
_LOCK: Final = "lock"
_LOCK_MODE: Final = 0o200
"""Not to be read: whoever can open a file can lock it, and a sandboxed command reads files."""


class Given:
    """The rules that people gave in a project; `folder` is where this user's are noted.

    None for a user without a place for state: there nothing was given, and nothing can be.
    """

    def __init__(self, folder: Path | None, project: Path) -> None:
        self._project = os.fsencode(os.path.realpath(project))
        name = sha256(self._project).hexdigest()
        self.path = None if folder is None else folder / name
        """The file of the project's."""

    def among(self, rules: Iterable[str]) -> frozenset[str]:
        """Those of some rules that were given here; none where that cannot be read."""
        noted = self._noted()
        return frozenset(rule for rule in rules if self._digest(rule) in noted)

    def note(self, rules: Iterable[str]) -> None:
        """From now on these were given here, and no others. Raises OSError, and GrantNotKept
        where there is no place for it."""
        if self.path is None:
            raise GrantNotKept(
                "there is no place to note who gave it: set HOME, or XDG_STATE_HOME to a "
                "directory of yours"
            )
        _make(self.path.parent)
        replace_file(
            self.path, "".join(f"{digest}\n" for digest in sorted(map(self._digest, rules)))
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other harnesses from writing what was given, of whom one would lose its rule.

        Raises OSError, and GrantNotKept while another one does.
        """
        if self.path is None:
            yield
            return
        _make(self.path.parent)
        path = self.path.parent / _LOCK
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(path, flags, _LOCK_MODE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise GrantNotKept(f"another process holds {path}; try again") from None
        finally:
            os.close(lock)

    def _digest(self, rule: str) -> str:
        return sha256(self._project + b"\0" + rule.encode()).hexdigest()

    def _noted(self) -> frozenset[str]:
        """What stands in the file, if nobody else could have written it or put it there."""
        if self.path is None or not _is_ours(self.path.parent):
            return frozenset()
        try:
            with opened(self.path, os.O_NOFOLLOW) as file:
                found = os.fstat(file.fileno())
                said = file.read(_LARGEST) if _is_private(found) else b""
        except OSError:
            return frozenset()
        return frozenset(said.decode("ascii", "replace").split())


def _make(folder: Path) -> None:
    """Have the folder of the notes. Raises OSError, and GrantNotKept where they would not count."""
    folder.parent.mkdir(0o700, parents=True, exist_ok=True)
    folder.mkdir(0o700, exist_ok=True)
    if not _is_ours(folder):
        raise GrantNotKept(
            f"{folder} is a link, or others may write to it or to the directory above it: "
            f"chmod 700 '{folder}' '{folder.parent}'"
        )


def _is_ours(folder: Path) -> bool:
    """Whether nobody else could have put a note there: it is no link, and neither it nor what it is
    in is another's to write to."""
    try:
        found = folder.lstat()
        return stat.S_ISDIR(found.st_mode) and all(map(_is_private, (found, folder.parent.stat())))
    except OSError:
        return False


def _is_private(found: os.stat_result) -> bool:
    """Whether it is this user's, who alone may write to it."""
    others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid == os.geteuid() and not others
