"""Which root a path belongs to, and where its links lead beneath the roots (C1).

Yields names, never descriptors: whoever opens them does so with no link on the way, so that a
link which comes in after the answer makes the opening fail instead of leading elsewhere.
Nothing outside a root is asked about, not even whether it exists.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from pluggableharness.sdk.jail import refusals
from pluggableharness.sdk.jail.descent import (
    Descend,
    Names,
    is_procfs,
    open_as_it_is,
    open_directory,
)

UP = b".."
_LINKS = 40  # the kernel's own limit


def split(path: bytes) -> Names:
    """Take a path apart at its separators; `..` is kept, since a link may stand before it."""
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


def joined(names: Names) -> bytes:
    """Make an absolute path of names."""
    return b"/" + b"/".join(names)


class Roots(Struct, frozen=True):
    """The roots, each under the spelling it was given in and under its real one."""

    real: Mapping[Names, Names]
    """Every accepted spelling of a root, to its real names."""

    def paths(self) -> list[bytes]:
        """The spellings, for messages."""
        return [joined(names) for names in self.real]

    def enter(self, names: Sequence[bytes]) -> tuple[Names, Names] | None:
        """Find the root that an absolute path enters: (its real names, the rest), or None.

        Up to the root the path is text, `..` included, because nothing outside may be looked
        at; from there on it is for the system to follow.
        """
        at: Names = ()
        for index, name in enumerate(names):
            if at in self.real:
                return self.real[at], tuple(names[index:])
            at = at[:-1] if name == UP else (*at, name)
        return (self.real[at], ()) if at in self.real else None


class Walk:
    """One resolution: the folders gone down into, held open, and the names still to go.

    Use as a context, then `run`. `path` is what the caller asked for, for messages. Without
    `follow` any link ends it.
    """

    def __init__(
        self,
        roots: Roots,
        descend: Descend,
        path: bytes,
        *,
        make_folders: bool = False,
        follow: bool = True,
    ) -> None:
        self._roots = roots
        self._descend = descend
        self._path = path
        self._make_folders = make_folders
        self._may_follow = follow
        self._root: Names = ()
        self._names: list[bytes] = []
        self._held: list[int] = []
        self._pending: list[bytes] = []
        self._links = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()

    def run(self, names: Sequence[bytes]) -> tuple[Names, Names]:
        """Follow an absolute path to (the root's real names, real names beneath it).

        The last name need not exist; with `make_folders`, neither need the folders before it.
        Raises PermissionDenied when the path leaves the roots, NotFound, ExecutionFailed when
        it goes through something that is no folder, and OSError for what the system says.
        """
        self._enter(names)
        while self._pending:
            name = self._pending.pop()
            if name == UP:
                self._go_up()
            elif not self._go_down(name):
                break
        return self._root, tuple(self._names)

    def _enter(self, names: Sequence[bytes]) -> None:
        where = self._roots.enter(names)
        if where is None:
            raise refusals.outside(self._path, self._roots.paths())
        self._let_go()
        self._root, rest = where
        self._held = [self._open_root()]
        self._names = []
        self._pending = list(reversed(rest))

    def _open_root(self) -> int:
        try:
            return open_directory(self._descend, self._root)
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link where the root was when it was resolved
                raise refusals.outside(self._path, self._roots.paths()) from None
            raise

    def _let_go(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _go_up(self) -> None:
        if self._names:
            self._names.pop()
            os.close(self._held.pop())
        elif self._root:  # the top of everything is its own parent
            self._enter((*self._root[:-1], *reversed(self._pending)))

    def _go_down(self, name: bytes) -> bool:
        """Take one name; False when it ends the path."""
        try:
            below = self._hold(name)
        except FileNotFoundError:
            if self._pending:
                raise refusals.missing(self._path, self._held[-1], name) from None
            self._names.append(name)
            return False
        mode = os.fstat(below).st_mode
        if stat.S_ISDIR(mode):
            self._names.append(name)
            self._held.append(below)
            return True
        try:
            return self._follow(below) if stat.S_ISLNK(mode) else self._end(name)
        finally:
            os.close(below)

    def _hold(self, name: bytes) -> int:
        at = self._held[-1]
        try:
            return open_as_it_is(at, name)
        except FileNotFoundError:
            # A missing folder that is left again by `..` is a slip, and nothing is made for it.
            if not (self._make_folders and self._pending and UP not in self._pending):
                raise
        try:
            os.mkdir(name, dir_fd=at)
        except FileExistsError:  # someone else was quicker, which is as good
            pass
        return open_as_it_is(at, name)

    def _follow(self, link: int) -> bool:
        if not self._may_follow:
            raise refusals.led_elsewhere(self._path)
        self._links += 1
        if is_procfs(link):
            raise refusals.of_the_kernel(self._path)
        if self._links > _LINKS:
            raise refusals.too_many_links(self._path)
        target = os.readlink(b"", dir_fd=link)
        if target.startswith(b"/"):
            self._enter((*split(target), *reversed(self._pending)))
        else:
            self._pending.extend(reversed(split(target)))
        return True

    def _end(self, name: bytes) -> bool:
        if self._pending:
            raise refusals.not_a_folder(self._path, joined((*self._root, *self._names, name)))
        self._names.append(name)
        return False
