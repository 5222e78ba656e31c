"""Compares what a command was not to change, once it has ended, and puts it back (K5a, C14).

Works by descriptors and follows no link, since what lies there is a stranger's by now. What was
put there is not deleted but moved aside, under a name that nobody acts on.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.believed import Watched
from pluggableharness.providers.exec.git_places import BARE, GIT, looks_bare
from pluggableharness.providers.exec.plain_repository import (
    CONFIGURATION,
    plain_lines,
    risky_names,
)
from pluggableharness.sdk.jail import open_folder

_LARGEST: Final = 4 << 20
"""Bytes of a file that can be put back; of a larger one, as of one that this user may not read, a
change is told, and not undone."""
_ASIDE: Final = re.compile(r".*\.refused-[0-9a-f]{8}", re.DOTALL)
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Link:
    """A link and what it says."""

    target: str


@dataclass(frozen=True, slots=True)
class File:
    """A file; without `data` it cannot be kept, and is known by its stamp."""

    mode: int
    owner: tuple[int, int]
    data: bytes | None
    stamp: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and what of it counts."""

    entries: Mapping[str, State]


@dataclass(frozen=True, slots=True)
class Other:
    """A pipe, a socket or a device."""

    mode: int


State = Link | File | Folder | Other | None
"""What is at a name; None for nothing."""


class Snapshot:
    """What was there before a command."""

    def __init__(self, watched: Sequence[Watched]) -> None:
        """Look. Raises OSError where something cannot be read, and so could not be put back."""
        self._before = [(one, _state_of(one)) for one in watched]

    def undo(self) -> list[str]:
        """Put back what has changed; says in a sentence each what was done, or could not be."""
        return [said for one, before in self._before for said in _undone(one, before)]


def _undone(one: Watched, before: State) -> Iterator[str]:
    try:
        with _parent(one) as parent:
            if parent is None:
                yield from _leading_off(one)
            elif one.shape and before is None and one.name in (GIT, *BARE):
                yield from _new_repository(parent, one)
            else:
                yield from _put_back(parent, one.name, one, before, str(one.path))
    except OSError as error:
        yield f"{one.path} was changed by the command, and that could not be undone ({error})"


def _leading_off(one: Watched) -> Iterator[str]:
    """Take away a link on the way to a name: where there was nothing, it would lead elsewhere."""
    for at, name in enumerate(one.below):
        step = Watched(one.folder, one.below[:at], name, shape=True)
        with _parent(step) as parent:
            if parent is None:
                return
            if isinstance(_state(parent, name, step), Link):
                yield _told(str(step.path), _move_aside(parent, name), None)
                return


def _put_back(parent: int, name: str, one: Watched, before: State, path: str) -> Iterator[str]:
    now = _state(parent, name, one)
    if now == before:
        return
    if isinstance(before, Folder) and isinstance(now, Folder):
        with _opened(parent, name) as folder:
            for entry in sorted({*before.entries, *now.entries}):
                was = before.entries.get(entry)
                yield from _put_back(folder, entry, _inner(one), was, f"{path}/{entry}")
        return
    if isinstance(before, File) and before.data is None:
        why = "is too large, or not this user's to read, to be put back: look at it"
        yield f"{path} was changed by the command, and {why}"
        return
    aside = _move_aside(parent, name) if now is not None else ""
    _make(parent, name, before)
    yield _told(path, aside, before)


def _told(path: str, aside: str, before: State) -> str:
    what = "was put there" if before is None else "was taken away" if not aside else "was changed"
    moved = f"; what was there is now {aside}, and nobody acts on it" if aside else ""
    return f"{path} {what} by the command, which none may do: it was undone{moved}"


def _move_aside(parent: int, name: str) -> str:
    aside = f"{name}.refused-{os.urandom(4).hex()}"
    os.rename(name, aside, src_dir_fd=parent, dst_dir_fd=parent)
    return aside


def _make(parent: int, name: str, what: State) -> None:
    match what:
        case Link(target):
            os.symlink(target, name, dir_fd=parent)
        case File(mode, owner, data):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, 0o600, dir_fd=parent), "wb") as file:
                file.write(data or b"")
                with suppress(PermissionError):
                    os.fchown(file.fileno(), *owner)
                os.fchmod(file.fileno(), mode)
        case Folder(entries):
            os.mkdir(name, dir_fd=parent)
            with _opened(parent, name) as folder:
                for entry, inner in entries.items():
                    _make(folder, entry, inner)
        case Other() | None:
            pass


def _state_of(one: Watched) -> State:
    with _parent(one) as parent:
        return None if parent is None else _state(parent, one.name, one)


def _state(parent: int, name: str, one: Watched) -> State:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return Folder({}) if one.suffix else None
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Link(os.readlink(name, dir_fd=parent))
    if stat.S_ISREG(status.st_mode):
        return _file(parent, name, status)
    if not stat.S_ISDIR(status.st_mode):
        return Other(mode)
    if one.shape:
        return Folder({})
    with _opened(parent, name) as folder:
        names = [entry for entry in os.listdir(folder) if entry.endswith(one.suffix)]
        inner = _inner(one)
        states = {entry: _state(folder, entry, inner) for entry in names if not _is_aside(entry)}
    return Folder(states)


def _inner(one: Watched) -> Watched:
    """What is looked for in a folder's entries: all of them."""
    return replace(one, suffix="")


def _is_aside(name: str) -> bool:
    return _ASIDE.fullmatch(name) is not None


def _file(parent: int, name: str, status: os.stat_result) -> File:
    mode, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if status.st_size > _LARGEST:
        return File(mode, owner, None, stamp)
    try:
        with os.fdopen(os.open(name, _FILE, dir_fd=parent), "rb") as file:
            return File(mode, owner, file.read(_LARGEST + 1))
    except PermissionError:
        return File(mode, owner, None, stamp)


def _new_repository(parent: int, one: Watched) -> Iterator[str]:
    """Leave a repository that a command has made, without what leads git to run programs."""
    now = _state(parent, one.name, one)
    if one.name == GIT and isinstance(now, Folder):
        with _opened(parent, GIT) as git:
            for name in risky_names(git):
                yield _told(f"{one.path}/{name}", _move_aside(git, name), None)
            yield from _plain_configuration(git, f"{one.path}/{CONFIGURATION}")
    elif now is not None and (one.name == GIT or looks_bare(partial(_is_there, parent))):
        yield _told(str(one.path), _move_aside(parent, one.name), None)


def _is_there(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _plain_configuration(git: int, path: str) -> Iterator[str]:
    """Let a configuration say nothing but what is known to name no program."""
    now = _state(git, CONFIGURATION, Watched(Path("/"), (), CONFIGURATION))
    text = now.data.decode(errors="replace") if isinstance(now, File) and now.data else ""
    plain = plain_lines(text)
    if now is None or (isinstance(now, File) and now.data is not None and plain == text):
        return
    aside = _move_aside(git, CONFIGURATION)
    if isinstance(now, File):
        _make(git, CONFIGURATION, replace(now, data=plain.encode()))
    yield f"{path} named programs for git to run; those lines are only in {aside} now"


@contextmanager
def _parent(one: Watched) -> Iterator[int | None]:
    """Open the folder that holds a watched name; None when it is not there, or is a link."""
    try:
        at = open_folder(one.folder)
    except FileNotFoundError:
        yield None
        return
    try:
        for step in one.below:
            try:
                below = os.open(step, _FOLDER, dir_fd=at)
            except (FileNotFoundError, NotADirectoryError):
                yield None
                return
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


@contextmanager
def _opened(parent: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
