"""What the harness and git act on later, and commands must not change (K5a, C14).

Names the files and says what is to be done about each. Under bubblewrap most are mounted so that
no command can change them; the rest, and all of them under Landlock, is compared and put back
once a command has ended (`undoing`). Only the system itself is asked: no link is followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

RULES: Final = "agent.hcl"
STEERING: Final = ".agent"
GIT: Final = ".git"
HEAD: Final = "HEAD"
HOOKS: Final = "hooks"
OF_GIT: Final = ("config", "config.worktree", "commondir", HOOKS)
"""Below `.git`: what names programs, and what leads git to another such file."""

STAND_IN_MODE: Final = 0o1755
"""By its sticky bit an empty folder is known as one that stands for a name nobody may take."""
_TOLD_BY: Final = stat.S_ISVTX | stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Watched:
    """A name to be compared: `name` in `folder`, or in a folder `below` that one.

    `suffix` narrows a folder to some entries, and makes none of it the same as an empty one;
    `shape` says that only what kind of file it is counts, since the rest is another one's to watch.
    """

    folder: Path
    below: tuple[str, ...]
    name: str
    suffix: str = ""
    shape: bool = False

    @property
    def path(self) -> Path:
        """Where it is, for a reader."""
        return self.folder.joinpath(*self.below, self.name)


@dataclass(slots=True)
class Believed:
    """What there is to hold, in some folders.

    `read_only` exists and is mounted so, `pinned` is mounted on itself, so that nobody takes it
    away with what is mounted below it, `absent` is mounted over by an empty folder. `watched` is
    what no mount can hold.
    """

    read_only: list[Path] = field(default_factory=list)
    pinned: list[Path] = field(default_factory=list)
    absent: list[Path] = field(default_factory=list)
    watched: list[Watched] = field(default_factory=list)


def folders_to_hold(roots: Sequence[Path], here: Path) -> tuple[Path, ...]:
    """Return each root, and each folder on the way from one to the working directory.

    In all of these a harness that is started again looks for its rules.
    """
    inner = (folder for folder in (here, *here.parents) if any(map(folder.is_relative_to, roots)))
    return tuple(dict.fromkeys((*roots, *inner)))


def by_mounts(folders: Iterable[Path]) -> Believed:
    """Say what holds the files of some folders where there are mounts."""
    found = Believed()
    for folder in folders:
        for name in (RULES, STEERING):
            _by_mount(found, folder, name)
        _git_by_mounts(found, folder)
    return found


def by_comparing(folders: Iterable[Path]) -> Believed:
    """Say what is to be compared where nothing can be mounted."""
    found = Believed()
    for folder in folders:
        found.watched.append(Watched(folder, (), RULES))
        found.watched.append(Watched(folder, (), STEERING, suffix=".hcl"))
        # Of a repository that is made meanwhile, all is looked at in another way.
        found.watched += _git_watched(folder, OF_GIT if _is_folder(folder / GIT) else ())
    return found


def _by_mount(found: Believed, folder: Path, name: str) -> None:
    path = folder / name
    status = _status(path)
    if status is None or is_stand_in(path, status):
        found.absent.append(path)
    elif stat.S_ISLNK(status.st_mode):
        # A mount would lie over what it leads to; the link itself can only be put back.
        found.watched.append(Watched(folder, (), name))
        target = path.resolve()
        if target.exists():
            found.read_only.append(target)
    else:
        found.read_only.append(path)


def _git_by_mounts(found: Believed, folder: Path) -> None:
    git = folder / GIT
    status = _status(git)
    if not _is_folder(git):
        if status is not None and stat.S_ISREG(status.st_mode):
            found.read_only.append(git)  # it leads to a repository elsewhere
        else:
            found.watched += _git_watched(folder, ())
        return
    found.pinned.append(git)
    left = []
    for name in OF_GIT:
        path = git / name
        status = _status(path)
        if status is not None and not stat.S_ISLNK(status.st_mode):
            stands_in = name == HOOKS and is_stand_in(path, status)
            (found.absent if stands_in else found.read_only).append(path)
        elif status is None and name == HOOKS:
            found.absent.append(path)
        else:
            left.append(name)
    found.watched += [Watched(folder, (GIT,), name) for name in left]


def _git_watched(folder: Path, names: Sequence[str]) -> Iterator[Watched]:
    yield Watched(folder, (), GIT, shape=True)
    if _status(folder / HEAD) is None:
        yield Watched(folder, (), HEAD, shape=True)
    yield from (Watched(folder, (GIT,), name) for name in names)


def is_stand_in(path: Path, status: os.stat_result) -> bool:
    """Tell whether something is an empty folder that stands for an absent name."""
    if not stat.S_ISDIR(status.st_mode) or status.st_mode & _TOLD_BY != stat.S_ISVTX:
        return False
    try:
        return not os.listdir(path)
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    status = _status(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


_REFUSAL: Final = re.compile(
    r"^(?=.*(?:\.git/(?:config|hooks|commondir)|agent\.hcl|\.agent\b))"
    r".*(?:Device or resource busy|Read-only file system)",
    re.MULTILINE,
)


def why_refused(output: str) -> str | None:
    """Say what a program's complaint about one of these files is about; None without one."""
    if _REFUSAL.search(output) is None:
        return None
    return (
        "a sandboxed command cannot change agent.hcl, .agent, .git/config or .git/hooks, since the "
        "harness and git act on them outside: let the person change them (git config too), or "
        "give git a setting for one command by git -c NAME=VALUE"
    )
