"""What the harness and git act on later, and commands must not change (K5a, C14).

Names the files and says what is to be done about each. Under bubblewrap most are mounted so that
no command can change them; the rest, and all of them under Landlock, is compared and put back
once a command has ended (`undoing`). The way to each is held as well, since who renames a folder
takes along what is in it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.git_places import BARE, GIT, git_directories, looks_bare

RULES: Final = "agent.hcl"
_STEERING: Final = ".agent"
HOOKS: Final = "hooks"
_OF_GIT: Final = ("config", "config.worktree", "commondir", HOOKS)
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


def by_mounts(folders: Sequence[Path], started: Iterable[Path] = ()) -> Believed:
    """Say what holds the files of some folders where there are mounts.

    `started` are files that the harness starts or believes beside those (K8, F4).
    """
    found = Believed()
    for one in _names(folders, started):
        way = _way(one, folders)
        if way is None or not {*found.read_only, *found.absent}.isdisjoint(one.path.parents):
            continue  # what is in a folder that is mounted can only be somebody else's doing
        found.pinned += way.steps
        status = _status(one.path)
        if way.led_off or (status is not None and stat.S_ISLNK(status.st_mode)):
            # A mount would lie over what a link leads to; the link itself can only be put back.
            found.watched.append(way.end)
        elif status is None or (one.stood_for and is_stand_in(one.path, status)):
            if one.stood_for:
                found.absent.append(one.path)
            else:
                found.watched.append(way.end)
        else:
            found.read_only.append(one.path)
    found.pinned.sort(key=lambda path: len(path.parts))
    found.watched += _new_repositories(folders)
    return found


def by_comparing(folders: Sequence[Path], started: Iterable[Path] = ()) -> Believed:
    """Say what is to be compared where nothing can be mounted.

    Folders that are `started` from are not: others write there meanwhile, and no command can
    (`writable_beside`).
    """
    found = Believed()
    found.watched += _new_repositories(folders)
    kept = kept_folders(started)
    for one in _names(folders, started):
        way = _way(one, folders)
        if way is not None:
            for step in way.steps:
                found.watched.append(Watched(step.parent, (), step.name, shape=True))
            if way.led_off or one.path not in kept:
                found.watched.append(way.end)
    found.watched = list(dict.fromkeys(found.watched))
    return found


def kept_folders(started: Iterable[Path]) -> tuple[Path, ...]:
    """Return where the folders are by now that are guarded with all in them."""
    return tuple(path for path in map(Path.resolve, started) if path.is_dir())


def writable_beside(root: Path, kept: Sequence[Path]) -> Iterator[Path]:
    """Give what of a root can be written where a rule for it could except nothing.

    That is the root, but where a folder that is kept lies in it, what lies on no way to that:
    neither it nor a folder on the way takes a new entry then. Raises OSError.
    """
    if any(root.is_relative_to(one) for one in kept):
        return
    if not any(one.is_relative_to(root) for one in kept):
        yield root
        return
    for entry in root.iterdir():
        if not entry.is_symlink():
            yield from writable_beside(entry, kept)


@dataclass(frozen=True, slots=True)
class _Name:
    """A path that is believed later.

    Where nothing is there, an empty folder may be `stood_for` it; `suffix` is as in `Watched`.
    """

    path: Path
    stood_for: bool = False
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class _Way:
    """The folders below a root on the way to a name, and what is at its end.

    `led_off` says that something else than a folder is on the way: the end is that then, or what
    may come to be there.
    """

    steps: tuple[Path, ...]
    end: Watched
    led_off: bool


def _names(folders: Sequence[Path], started: Iterable[Path]) -> Iterator[_Name]:
    """Everything that is believed, and where links lead to it."""
    seen: set[Path] = set()
    for one in (*_of_folders(folders), *map(_Name, started)):
        for path in (one.path, Path(os.path.realpath(one.path))):
            if path not in seen:
                seen.add(path)
                yield replace(one, path=path)


def _of_folders(folders: Sequence[Path]) -> Iterator[_Name]:
    for folder in folders:
        yield _Name(folder / RULES, stood_for=True)
        yield _Name(folder / _STEERING, stood_for=True, suffix=".hcl")
        git = folder / GIT
        if _status(git) is not None and not _is_folder(git):
            yield _Name(git)  # it leads to a repository elsewhere
        for place in git_directories(folder):
            for name in _OF_GIT:
                yield _Name(place / name, stood_for=name == HOOKS)


def _way(one: _Name, roots: Sequence[Path]) -> _Way | None:
    """The way to a name from the outermost root that it is below; None when it is below none."""
    above = [root for root in roots if root in one.path.parents]
    if not above:
        return None
    root = min(above, key=lambda path: len(path.parts))
    names = one.path.relative_to(root).parts
    steps: list[Path] = []
    for at in range(1, len(names)):
        step = root.joinpath(*names[:at])
        status = _status(step)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            return _Way(tuple(steps), Watched(root, names[: at - 1], step.name), led_off=True)
        if status is None:
            return _Way(tuple(steps), Watched(root, names[:-1], names[-1]), led_off=True)
        steps.append(step)
    end = Watched(root, names[:-1], names[-1], suffix=one.suffix)
    return _Way(tuple(steps), end, led_off=False)


def _new_repositories(folders: Sequence[Path]) -> Iterator[Watched]:
    """What makes a repository of a folder where there was none."""
    for folder in folders:
        yield Watched(folder, (), GIT, shape=True)
        there = {name for name in BARE if _status(folder / name) is not None}
        if not looks_bare(there.__contains__):
            yield from (Watched(folder, (), name, shape=True) for name in BARE if name not in there)


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
    r"^(?=.*(?:\.git/(?:config|hooks|commondir)|agent\.hcl|\.agent\b|/pluggableharness/))"
    r".*(?:Device or resource busy|Read-only file system)",
    re.MULTILINE,
)


def why_refused(output: str) -> str | None:
    """Say what a program's complaint about one of these files is about; None without one."""
    if _REFUSAL.search(output) is None:
        return None
    return (
        "a sandboxed command cannot change agent.hcl, .agent, .git/config or .git/hooks, nor the "
        "state of the harness, since it and git act on them outside: let the person change them "
        "(git config too), or give git a setting for one command by git -c NAME=VALUE"
    )
