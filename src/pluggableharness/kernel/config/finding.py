"""Which agent.hcl applies, apart from what reads one: a list of sessions must not wait for that."""

import os
from pathlib import Path
from typing import Final

FILE_NAME: Final = "agent.hcl"


def find(directory: Path) -> Path | None:
    """The agent.hcl of the project that a directory is in; None when there is none.

    The project's root is the nearest directory upward that holds one. The search ends at a
    directory that holds `.git`, and above the first one only a file of this user or of root
    counts, and a link only if both it and what it leads to are theirs: what a stranger puts into
    /tmp is nobody's configuration. A link that leads nowhere counts as well, as a file that cannot
    be read, since nobody would notice that its rules are gone. A folder of that name is none:
    sandboxes stand on one while a command runs.
    """
    for folder in (directory, *directory.parents):
        path = folder / FILE_NAME
        if os.path.lexists(path) and not path.is_dir() and (folder == directory or _is_ours(path)):
            return path
        if (folder / ".git").exists():
            return None
    return None


def _is_ours(path: Path) -> bool:
    found = [path.lstat(), *([path.stat()] if path.exists() else [])]
    return all(one.st_uid in (0, os.getuid()) for one in found)
