"""Which rules of "always" were given on this machine, noted in the user's own state (K10).

A project's file of them may have come with a clone, and anyone who writes there may have put a rule
into it. What is noted is each rule's text, bound to the project's directory.
"""

import os
import stat
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from pluggableharness.kernel.config.writing import replace_file
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.regular import opened

_LARGEST: Final = 1 << 20


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
        self.path.parent.mkdir(0o700, parents=True, exist_ok=True)
        replace_file(
            self.path, "".join(f"{digest}\n" for digest in sorted(map(self._digest, rules)))
        )

    def _digest(self, rule: str) -> str:
        return sha256(self._project + b"\0" + rule.encode()).hexdigest()

    def _noted(self) -> frozenset[str]:
        """What stands in the file, if nobody else could have written it."""
        if self.path is None:
            return frozenset()
        try:
            with opened(self.path, os.O_NOFOLLOW) as file:
                found = os.fstat(file.fileno())
                others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
                ours = found.st_uid == os.geteuid() and not others
                said = file.read(_LARGEST) if ours else b""
        except OSError:
            return frozenset()
        return frozenset(said.decode("ascii", "replace").split())
