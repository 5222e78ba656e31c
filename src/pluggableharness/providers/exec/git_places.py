"""Where git takes its configuration and hooks from, for a folder that it runs in (C14).

A `.git` may be a link or a file that leads elsewhere, a `commondir` leads on, and a folder may be a
repository itself. Looks by name and runs nothing. The kernel has `git/directories.py`, since it
knows no provider and asks another question; a test holds that both go to the same places.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

GIT: Final = ".git"
BARE: Final = ("HEAD", "objects", "refs", "commondir")
"""By these git takes a folder itself for a repository."""

_GITDIR: Final = b"gitdir: "
_LONGEST: Final = 8192


def looks_bare(there: Callable[[str], bool]) -> bool:
    """Whether git might take a folder for a repository; `there` tells of a name, links included."""
    head, objects, refs, commondir = map(there, BARE)
    return head and (commondir or (objects and refs))


def git_directories(folder: Path) -> tuple[Path, ...]:
    """The folders by whose `config` and `hooks` git goes in a folder, as named and as resolved."""
    found = [one for git in _repositories(folder) for one in (git, *_common(git))]
    return tuple(dict.fromkeys(one for path in found for one in (path, _real(path))))


def _repositories(folder: Path) -> Iterator[Path]:
    git = folder / GIT
    try:
        mode = git.stat().st_mode
    except OSError:
        mode = 0
    if stat.S_ISDIR(mode):
        yield git
    elif stat.S_ISREG(mode):
        said = _said(git)
        if said.startswith(_GITDIR):
            yield _joined(folder, said.removeprefix(_GITDIR))
    if looks_bare(lambda name: os.path.lexists(folder / name)):
        yield folder


def _common(git: Path) -> Iterator[Path]:
    said = _said(git / "commondir")
    if said:
        yield _joined(git, said)


def _joined(folder: Path, said: bytes) -> Path:
    return Path(os.path.normpath(folder / os.fsdecode(said)))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _said(path: Path) -> bytes:
    """What a file says, as git reads it; nothing where there is no plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:
        plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return file.read(_LONGEST).rstrip(b"\r\n") if plain else b""
