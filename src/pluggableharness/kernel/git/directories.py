"""Where the repositories that a directory is in keep what git believes, beside a `.git` (K5a).

The exec provider has `git_places`, which the kernel does not know; a test holds that both go to the
same places.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pluggableharness.kernel.regular import opened

_GITDIR: Final = b"gitdir: "
_LONGEST: Final = 8192


def git_directories(directory: Path) -> frozenset[str]:
    """The folders that a `.git` of the directory, or of one above it, leads to, with all in them.

    As they are named and as they are resolved; none for the usual `.git`, which is known by its
    name. Looks anew at each call, since a `.git` may have come.
    """
    found: set[str] = set()
    folder = str(directory)
    while True:
        found.update(_of(folder))
        above = os.path.dirname(folder)
        if above == folder:
            return frozenset(found)
        folder = above


def _of(folder: str) -> Iterator[str]:
    git = os.path.join(folder, ".git")
    try:
        mode = os.lstat(git).st_mode
    except OSError:
        return
    if stat.S_ISREG(mode):
        said = _said(git)
        if not said.startswith(_GITDIR):
            return
        git = os.path.join(folder, os.fsdecode(said.removeprefix(_GITDIR)))
    elif not stat.S_ISDIR(mode) and not stat.S_ISLNK(mode):
        return
    common = _said(os.path.join(git, "commondir"))
    if common or not stat.S_ISDIR(mode):
        for one in (git, os.path.join(git, os.fsdecode(common))):
            yield from (os.path.normpath(one), os.path.realpath(one))


def _said(path: str) -> bytes:
    """What a file says, as git reads it; nothing where there is no plain file."""
    try:
        with opened(path) as file:
            return file.read(_LONGEST).rstrip(b"\r\n")
    except OSError:
        return b""
