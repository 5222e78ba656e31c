"""Which agent.hcl applies, apart from what reads one: a list of sessions must not wait for that."""

import os
from pathlib import Path
from typing import Final

FILE_NAME: Final = "agent.hcl"


def find(directory: Path) -> Path | None:
    """The agent.hcl of the project that a directory is in; None when there is none.

    The project's root is the nearest directory upward that holds one. The search ends at a
    directory that holds `.git`, and above the first one only a file of this user or of root
    counts: what a stranger puts into /tmp is nobody's configuration. A folder of that name is
    none: sandboxes stand on one while a command runs.
    """
    for folder in (directory, *directory.parents):
        path = folder / FILE_NAME
        if (
            path.exists()
            and not path.is_dir()
            and (folder == directory or path.stat().st_uid in (0, os.getuid()))
        ):
            return path
        if (folder / ".git").exists():
            return None
    return None
