"""The jail: files beneath allowed roots, and nothing else (C1).

A path is resolved to real names (`resolution`), opened with no link on the way (`descent`),
and resolved anew when a link came in between. Holds no descriptors between calls and keeps
nothing about files: it may be used by any number of threads, for as long as wanted.
"""

import errno
import os
import stat
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Self

from msgspec import Struct

from pluggableharness.sdk.failures import NotFound, ToolFailure
from pluggableharness.sdk.jail import refusals
from pluggableharness.sdk.jail.descent import Descend, Names, best, is_procfs, open_directory
from pluggableharness.sdk.jail.resolution import UP, Roots, Walk, joined, split
from pluggableharness.sdk.jail.spelling import encoded, unescaped
from pluggableharness.sdk.naming import visible

_ATTEMPTS = 16
_WORTH_A_WALK = frozenset({errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.EXDEV, errno.EAGAIN})
_HARMLESS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Place(Struct, frozen=True):
    """Where a path leads: a folder held open, and a name in it that is not a link.

    A context that closes the folder. Whatever happens to the path afterwards, operations on
    `folder` and `name` that do not follow links stay where they are.
    """

    folder: int
    """An O_PATH descriptor of the folder, for `dir_fd=`."""
    name: bytes
    """The name in it; `b"."` for a root itself."""
    path: bytes
    """The real absolute path, without links."""
    status: os.stat_result | None
    """What is there, or None when nothing is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self.folder)

    @property
    def is_file(self) -> bool:
        """Whether something other than a folder was here."""
        return self.status is not None and not stat.S_ISDIR(self.status.st_mode)

    @property
    def shown(self) -> str:
        """The path for a reader, with visible escapes."""
        return visible(self.path)

    @property
    def key(self) -> tuple[int, int, bytes]:
        """What this place is called whatever path led here: device and inode of the folder, name.

        Outlives a replacement of the file by rename, which its own inode does not.
        """
        folder = os.fstat(self.folder)
        return folder.st_dev, folder.st_ino, self.name

    def missing(self) -> NotFound:
        """Make the error for a place that should not be empty, with names that look alike."""
        return refusals.missing(self.path, self.folder, self.name)

    def open(self, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
        """Open what is here: a regular file or a folder, without waiting and without following.

        Raises NotFound, PermissionDenied, ExecutionFailed for a device, FIFO or socket (which
        is not opened at all), and OSError ELOOP when a link has taken the place.
        """
        if self.status is None and not flags & os.O_CREAT:
            raise self.missing()
        if self.status is not None and not _is_ordinary(self.status.st_mode):
            raise refusals.not_a_file(self.path, self.status.st_mode)
        try:
            descriptor = os.open(self.name, flags | _HARMLESS, mode, dir_fd=self.folder)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise
            raise refusals.from_system(error, self.path) from None
        return _checked(descriptor, self.path)


def _is_ordinary(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _checked(descriptor: int, path: bytes) -> int:
    """Look again at what was opened, since the name may have changed hands before that."""
    try:
        mode = os.fstat(descriptor).st_mode
        if not _is_ordinary(mode):
            raise refusals.not_a_file(path, mode)
        if is_procfs(descriptor):
            raise refusals.of_the_kernel(path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class Jail:
    """Opens paths beneath `roots` and refuses everything else with PermissionDenied (C1).

    Roots are resolved once, here; a path may use their given and their real spelling. A root
    need not exist yet. `descend` is chosen for the system unless given.
    """

    def __init__(
        self, roots: Sequence[str | os.PathLike[str]], *, descend: Descend | None = None
    ) -> None:
        if not roots:
            raise ValueError("a jail needs at least one root")
        self._descend = descend or best()
        spellings: dict[Names, Names] = {}
        for root in roots:
            given = os.fsencode(os.path.abspath(root))
            real = split(os.path.realpath(given))
            spellings |= {split(given): real, real: real}
        self._roots = Roots(spellings)
        self._first = Path(os.path.abspath(roots[0]))
        self.roots: tuple[Path, ...] = tuple(
            dict.fromkeys(Path(os.fsdecode(joined(real))) for real in spellings.values())
        )
        """The real paths of the roots."""

    def open(
        self,
        path: str,
        flags: int = os.O_RDONLY,
        mode: int = 0o666,
        *,
        base: Path | None = None,
    ) -> int:
        """Open a regular file or folder beneath a root; the descriptor is the caller's to close.

        Relative paths start at `base` (P9), by default the first root. `O_NONBLOCK` is set, so
        that nothing hangs. Raises PermissionDenied, NotFound with names that look alike,
        ExecutionFailed for what is no file, InvalidArguments for what cannot be a path.
        """
        for _ in range(_ATTEMPTS):
            with self.locate(path, base=base) as place:
                try:
                    return place.open(flags, mode)
                except OSError:  # a link has taken the place: find out where it leads
                    continue
        raise refusals.restless(path, self._roots.paths())

    def locate(
        self,
        path: str,
        *,
        base: Path | None = None,
        make_folders: bool = False,
        approved: str | None = None,
    ) -> Place:
        r"""Find where a path leads, following links that stay beneath the roots.

        What is there need not exist, and with `make_folders` neither need the folders on the
        way, which are then made. Where nothing has the name as it is written, escapes as shown
        by `visible` are read: `caf\xe9`. Raises as `open` does.

        `approved` is what `ctx.approved(path)` gives. That is then the place, or there is none:
        ConcurrencyConflict when a link has come into its way (K10a).
        """
        # An approved path holds no link, so it is opened by its names and none is followed.
        follow, goal = approved is None, path if approved is None else approved
        read_back = unescaped(goal)
        if read_back != goal and not self._holds(goal, base) and self._holds(read_back, base):
            path = goal = read_back
        names = self._absolute(encoded(goal), base)
        return self._locate(encoded(path), names, make_folders=make_folders, follow=follow)

    def _holds(self, path: str, base: Path | None) -> bool:
        try:
            names = self._absolute(encoded(path), base)
            with self._locate(encoded(path), names) as place:
                return place.status is not None
        except ToolFailure:
            return False

    def _locate(
        self, path: bytes, names: Names, *, make_folders: bool = False, follow: bool = True
    ) -> Place:
        where = self._roots.enter(names)
        for _ in range(_ATTEMPTS):
            try:
                if where is not None and (place := self._arrive(*where)) is not None:
                    return self._accepted(place, path)
                with Walk(
                    self._roots, self._descend, path, make_folders=make_folders, follow=follow
                ) as walk:
                    where = walk.run(names)
            except OSError as error:
                raise refusals.from_system(error, path) from None
        raise refusals.restless(path, self._roots.paths())

    def _absolute(self, path: bytes, base: Path | None) -> Names:
        if path.startswith(b"/"):
            return split(path)
        start = os.fsencode(base or self._first)
        if self._roots.enter(split(start)) is None:
            # The working directory is the kernel's word, not the model's: it may be looked at.
            start = os.path.realpath(start)
        return (*split(start), *split(path))

    def _arrive(self, root: Names, names: Names) -> Place | None:
        """Go to names beneath a root that hold no link; None when that is not what they are."""
        if UP in names:
            return None
        folder = -1
        try:
            folder = self._open_folder(root, names[:-1])
            name = names[-1] if names else b"."
            status = _status(folder, name)
        except OSError as error:
            _close(folder)
            if error.errno in _WORTH_A_WALK:
                return None
            raise
        if status is not None and stat.S_ISLNK(status.st_mode):
            os.close(folder)
            return None
        return Place(folder, name, joined((*root, *names)), status)

    def _open_folder(self, root: Names, names: Names) -> int:
        top = open_directory(self._descend, root)
        try:
            return self._descend(top, names)
        finally:
            os.close(top)

    def _accepted(self, place: Place, path: bytes) -> Place:
        try:
            if is_procfs(place.folder):
                raise refusals.of_the_kernel(path)
            if _means_a_folder(path) and place.is_file:
                raise refusals.not_a_folder(path, place.path)
        except BaseException:
            place.close()
            raise
        return place


def _means_a_folder(path: bytes) -> bool:
    return path.rpartition(b"/")[2] in (b"", b".")


def _status(folder: int, name: bytes) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


@cache
def jail_for(roots: tuple[str, ...], working_directory: Path) -> Jail:
    """Share the jail of a provider's configured roots, by default the call's working directory.

    Relative roots start at the working directory. The same arguments give the same jail for
    the life of the process, so that a root is resolved once, however often it is used.
    """
    return Jail([working_directory / root for root in roots] or [working_directory])
