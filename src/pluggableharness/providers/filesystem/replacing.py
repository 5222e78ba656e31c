"""Putting new content in a file's place, whole or not at all (C3).

The content is written beside the file, made durable, and only then takes its name. Where the
file system can, it has no name until it is complete, so that even a kill leaves nothing behind.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from pluggableharness.providers.filesystem.known import Pieces, stamp_of
from pluggableharness.sdk import ConcurrencyConflict, PermissionDenied
from pluggableharness.sdk.jail import Place

_NEW_FILE: Final = 0o666
_PRIVATE: Final = 0o600
_SLICE: Final = 8 << 20
_NO_ANONYMOUS_FILES: Final = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL})
_ACCESS_LIST: Final = "system.posix_acl_access"


class OldFile(Struct, frozen=True):
    """A file that is to be replaced, held open."""

    descriptor: int
    status: os.stat_result
    """As it was before anything of it was read."""

    @property
    def other_names(self) -> int | None:
        """How many other names (hard links) the file has; None for none."""
        return self.status.st_nlink - 1 or None


def replace(
    place: Place, old: OldFile | None, pieces: Pieces, check: Callable[[], None]
) -> os.stat_result:
    """Make `pieces` the content of a place and return the new file's status.

    The new file gets the mode, owner, access list and user attributes of `old`; where there is
    none, the mode is what umask gives. `check` may raise up to the moment when the new content
    takes its place.

    Raises ConcurrencyConflict when another file, or another version of it, is there by then;
    PermissionDenied when the owner cannot be kept; OSError. After any of these everything is
    as it was.
    """
    mode = _NEW_FILE if old is None else old.status.st_mode & _PRIVATE
    with _unnamed(place.folder, mode) as (descriptor, name):
        _write(descriptor, pieces, check)
        if old is not None:
            _take_over(old, descriptor, place)
        os.fsync(descriptor)
        check()
        _expect(place, old)
        if name is None and old is None:
            _take_empty_place(descriptor, place)
        else:
            _rename(descriptor, name, place)
        _sync_folder(place.folder)
        return os.fstat(descriptor)


@contextmanager
def _unnamed(folder: int, mode: int) -> Iterator[tuple[int, bytes | None]]:
    """Make a file without a name in a folder, or where that cannot be, one with a hidden name."""
    name: bytes | None = None
    try:
        descriptor = os.open(b".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_ANONYMOUS_FILES:
            raise
        name = _hidden_name()
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, mode, dir_fd=folder)
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)
        if name is not None:
            _remove(folder, name)


def _hidden_name() -> bytes:
    return b".%b.partial" % os.urandom(8).hex().encode()


def _remove(folder: int, name: bytes) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:  # it has its place
        pass


def _write(descriptor: int, pieces: Pieces, check: Callable[[], None]) -> None:
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            check()
            rest = rest[os.write(descriptor, rest[:_SLICE]) :]


def _take_over(old: OldFile, new: int, place: Place) -> None:
    """Give the new file what the old one has; nothing is ever more open than the old one was."""
    status = old.status
    mine = os.fstat(new)
    if (status.st_uid, status.st_gid) != (mine.st_uid, mine.st_gid):
        try:
            os.fchown(new, status.st_uid, status.st_gid)
        except PermissionError:
            raise PermissionDenied(
                f"{place.shown} belongs to user {status.st_uid} and group {status.st_gid}, which "
                "could not be kept. Its owner would have to change it, or hand it over."
            ) from None
    _take_over_attributes(old.descriptor, new)
    # Like any write, this one does not keep the right to run as somebody else.
    os.fchmod(new, stat.S_IMODE(status.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))


def _take_over_attributes(old: int, new: int) -> None:
    try:
        names = os.listxattr(old)
        if _ACCESS_LIST in os.listxattr(new) and _ACCESS_LIST not in names:
            os.removexattr(new, _ACCESS_LIST)  # a default of the folder, wider than the old file
        for name in names:
            if name == _ACCESS_LIST or name.startswith("user."):
                os.setxattr(new, name, os.getxattr(old, name))
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise


def _expect(place: Place, old: OldFile | None) -> None:
    """Look once more whether the place holds what the new content was made from."""
    try:
        now = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if old is None and now is None:
        return
    if old is not None and now is not None and stamp_of(old.status) == stamp_of(now):
        return
    raise changed_meanwhile(place)


def changed_meanwhile(place: Place) -> ConcurrencyConflict:
    """Make the error for a file that something else changed while it was about to be written."""
    return ConcurrencyConflict(
        f"{place.shown} was changed by something else while it was being written; that change "
        "was kept, and nothing was written. Read the file again and repeat what is still wanted.",
        retryable=True,
    )


def _take_empty_place(descriptor: int, place: Place) -> None:
    try:
        _link(descriptor, place.folder, place.name)
    except FileExistsError:
        raise changed_meanwhile(place) from None


def _link(descriptor: int, folder: int, name: bytes) -> None:
    """Give a file without a name one; an existing name is never taken away.

    The link in /proc stands for the open file, as linkat(2) has it; with AT_EMPTY_PATH only
    root could do it.
    """
    source = b"/proc/self/fd/%d" % descriptor
    os.link(source, name, dst_dir_fd=folder, follow_symlinks=True)


def _rename(descriptor: int, name: bytes | None, place: Place) -> None:
    """Let the new file take the place; no link is followed on either side."""
    if name is None:
        name = _hidden_name()
        _link(descriptor, place.folder, name)
    try:
        os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        _remove(place.folder, name)
        raise


def _sync_folder(folder: int) -> None:
    try:
        descriptor = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:  # a folder that may be written but not listed
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
