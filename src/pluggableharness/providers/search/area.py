"""Where a search takes place: a folder or a file that is held open, beneath the roots (C1, P9).

Owns the way from what a call names to descriptors, and back from what ripgrep finds to paths
that the next call can be given.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.providers.search.confined import can_confine
from pluggableharness.sdk import InvalidArguments, NotFound, ToolFailure
from pluggableharness.sdk.jail import Jail, best, visible
from pluggableharness.sdk.naming import named

_READ_ONLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Area:
    """What is searched. Good while the block of `opened` lasts."""

    folder: int
    """The folder that ripgrep runs in; paths that it finds are relative to it."""
    file: int | None
    """The one file that is searched, if it is not the folder."""
    shown_folder: str
    """What stands before a path that was found; empty, or with a slash at its end."""
    shown_file: str
    """How the one file is called."""
    roots: Sequence[int]
    """The folders that ripgrep may read beneath."""

    @property
    def is_root(self) -> bool:
        """Whether nothing above the folder may be read."""
        status = os.fstat(self.folder)
        return any(os.path.samestat(status, os.fstat(root)) for root in self.roots)

    def shown(self, path: str) -> str:
        """Return what a path that was found is called, for a reader and for the next call."""
        return visible(self.shown_folder + path)

    def open(self, path: str) -> int:
        """Open a file that was found, through no link. Raises OSError."""
        if self.file is not None:
            return os.dup(self.file)
        *folders, name = os.fsencode(path).split(b"/")
        parent = best()(self.folder, tuple(folders))
        try:
            return os.open(name, _READ_ONLY, dir_fd=parent)
        finally:
            os.close(parent)

    def vouches_for(self, path: str) -> bool:
        """Tell whether a path that was found is beneath the folder, where ripgrep was not held."""
        return can_confine() or self._starts_with(path, 0, b"")

    def vouches_for_text(self, path: str, offset: int, text: bytes) -> bool:
        """Tell likewise whether a text is from where it is said to be."""
        if can_confine() or self.file is not None:
            return True
        # ripgrep does not count a byte-order mark.
        return self._starts_with(path, offset, text) or self._starts_with(path, offset + 3, text)

    def _starts_with(self, path: str, offset: int, text: bytes) -> bool:
        try:
            descriptor = self.open(path)
        except OSError:
            return False
        try:
            return os.pread(descriptor, len(text), offset) == text
        finally:
            os.close(descriptor)


@contextmanager
def opened(
    jail: Jail, base: Path, path: str | None, prefix: str, *, may_be_file: bool
) -> Iterator[Area | None]:
    """Open what a call wants searched: `prefix`, the start of its glob, beneath `path`.

    None when only the prefix leads nowhere: then there is nothing to find. Raises as the jail
    does, and InvalidArguments for a file where there can only be a folder.
    """
    with ExitStack() as stack:
        descriptor = _open(jail, base, path, prefix)
        if descriptor is None:
            yield None
            return
        _held(stack, descriptor)
        shown = spelled(path, prefix)
        roots = list(_roots(jail, stack))
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            yield Area(descriptor, None, shown, "", roots)
        elif may_be_file and not prefix:
            nowhere = _held(stack, os.open("/", os.O_PATH | os.O_CLOEXEC))
            yield Area(nowhere, descriptor, "", visible(shown.removesuffix("/")), roots)
        else:
            raise InvalidArguments(
                f"{named(shown.removesuffix('/'))} is a file, and a glob is for the files in a "
                "folder. Name its folder, or use read_file to see it."
            )


def _open(jail: Jail, base: Path, path: str | None, prefix: str) -> int | None:
    try:
        return jail.open(_joined(path, prefix), base=base)
    except NotFound:
        if not prefix:
            raise
        if path is not None and not prefix.startswith("/"):
            os.close(jail.open(path, base=base))
        return None


def _roots(jail: Jail, stack: ExitStack) -> Iterator[int]:
    for root in jail.roots:
        try:
            yield _held(stack, jail.open(str(root), os.O_PATH | os.O_DIRECTORY))
        except ToolFailure:  # it is gone: then there is nothing beneath it either
            continue


def _held(stack: ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _joined(path: str | None, prefix: str) -> str:
    if prefix.startswith("/"):
        return prefix
    return "/".join(part for part in (path, prefix) if part) or "."


def spelled(path: str | None, prefix: str) -> str:
    """Write the folder that paths begin with as the call wrote it, without what says nothing."""
    whole = _joined(path, prefix)
    names = [name for name in whole.split("/") if name not in ("", ".")]
    return "/" * whole.startswith("/") + "".join(f"{name}/" for name in names)


def process_views(folder: int) -> list[str]:
    """List what beneath a folder is the kernel's view of processes, which no tool reads."""
    try:
        real = os.readlink(f"/proc/self/fd/{folder}")
        mounts = Path("/proc/self/mountinfo").read_bytes()
    except OSError:  # without a /proc of its own this process has nobody else's in sight
        return []
    above = real.rstrip("/") + "/"
    places = [_mount_point(line) for line in mounts.split(b"\n") if b" - proc " in line]
    return [place.removeprefix(above) for place in places if place.startswith(above)]


def _mount_point(line: bytes) -> str:
    """Read the fifth field, in which white space and backslashes stand as octal numbers."""
    field = line.split(b" ")[4]
    return os.fsdecode(re.sub(rb"\\(\d{3})", lambda found: bytes([int(found[1], 8)]), field))
