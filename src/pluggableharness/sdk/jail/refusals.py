"""What the one who named a path reads when it cannot be had (P16).

Each says what failed, on what, and what to do next; names are shown by `named`. That a
path lies outside says nothing about whether anything is there.
"""

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from itertools import islice

from pluggableharness.sdk.failures import (
    ConcurrencyConflict,
    ExecutionFailed,
    InvalidArguments,
    NotFound,
    PermissionDenied,
    ToolFailure,
)
from pluggableharness.sdk.jail.spelling import likeness
from pluggableharness.sdk.naming import named, visible

_NAMES_LOOKED_AT = 10_000
_NAMES_COMPARED = 200
_NAMES_SHOWN = 5
_CLOSE = 0.75


def outside(path: bytes | str, roots: Iterable[bytes]) -> PermissionDenied:
    """Refuse a path that is not beneath a root, by its text or by where its links lead."""
    return PermissionDenied(
        f"{named(path)} is outside the allowed folders or leads out of them: "
        f"{_listed(roots)}. Use a path beneath one of these; to allow more, add to "
        "`allowed_roots` in the provider's block of agent.hcl."
    )


def of_the_kernel(path: bytes | str) -> PermissionDenied:
    """Refuse what shows processes (procfs) or a link that the kernel makes up."""
    return PermissionDenied(
        f"{named(path)} belongs to the system's view of its processes, which no tool touches, "
        "even beneath an allowed folder. Name an ordinary file instead."
    )


def restless(path: bytes | str, roots: Iterable[bytes]) -> PermissionDenied:
    """Refuse a path whose folders or links changed each time that it was about to be opened."""
    return PermissionDenied(
        f"{named(path)} kept changing while it was being opened, so that it could not be held "
        f"beneath an allowed folder ({_listed(roots)}). Stop what changes it and try again."
    )


def led_elsewhere(path: bytes | str) -> ConcurrencyConflict:
    """Refuse a path on whose way a link has come in since the call was approved (K10a)."""
    return ConcurrencyConflict(
        f"{named(path)} leads elsewhere now than when this call was approved, since a symbolic "
        "link has come into its way; nothing was done. Look what is there, then call again."
    )


def _listed(roots: Iterable[bytes]) -> str:
    return ", ".join(named(root) for root in roots)


def missing(path: bytes | str, folder: int, name: bytes) -> NotFound:
    """Say that `name` is not in the open `folder`, and which names there look like it."""
    near = near_names(folder, name)
    shown = named(path)
    if not near:
        return NotFound(f"{shown} does not exist: there is no {named(name)} in its folder.")
    return NotFound(
        f"{shown} does not exist. In its folder these look like {named(name)}: "
        f"{', '.join(near)}. Ask again with one of these names exactly as it is written here.",
        details={"near": near},
    )


def near_names(folder: int, name: bytes) -> list[str]:
    """List names in a folder that a reader would take for `name`, else those it may be a slip of.

    With visible escapes, as every name that is shown.
    """
    wanted = likeness(name)
    try:
        listing = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:  # not readable: then there is nothing to suggest
        return []
    try:
        with os.scandir(listing) as entries:
            names = [os.fsencode(entry.name) for entry in islice(entries, _NAMES_LOOKED_AT)]
    finally:
        os.close(listing)
    alike = {each: likeness(each) for each in sorted(names)}
    near = [each for each, seen in alike.items() if seen == wanted] or _slips(wanted, alike)
    return [visible(each) for each in near[:_NAMES_SHOWN]]


def _slips(wanted: str, alike: Mapping[bytes, str]) -> list[bytes]:
    if len(alike) > _NAMES_COMPARED:
        return []
    # 4 ms to import, and only a mistake needs it.
    from difflib import get_close_matches

    close = get_close_matches(wanted, set(alike.values()), n=_NAMES_SHOWN, cutoff=_CLOSE)
    return [each for each, seen in alike.items() if seen in close]


def kind_of(mode: int) -> str:
    """Name what a file is by its mode, for a reader: "a folder", "a FIFO (named pipe)"."""
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a FIFO (named pipe)",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a character device",
        stat.S_IFBLK: "a block device",
    }
    return kinds.get(stat.S_IFMT(mode), "no ordinary file")


def not_a_file(path: bytes | str, mode: int) -> ExecutionFailed:
    """Refuse what is neither a file nor a folder, or a folder where a file is wanted."""
    advice = "List it or name a file in it." if stat.S_ISDIR(mode) else "Name an ordinary file."
    return ExecutionFailed(f"{named(path)} is {kind_of(mode)}, not a file. {advice}")


def not_a_folder(path: bytes | str, part: bytes | str) -> ExecutionFailed:
    """Refuse a path that goes on behind something that is not a folder."""
    return ExecutionFailed(
        f"{named(path)}: {named(part)} is not a folder, so nothing lies below it. "
        "Leave out what follows it, or name a folder."
    )


def too_many_links(path: bytes | str) -> ExecutionFailed:
    """Refuse a path that goes from link to link without an end in sight."""
    return ExecutionFailed(
        f"{named(path)} goes through too many symbolic links, or in a circle. Name the file itself."
    )


def from_system(error: OSError, path: bytes | str) -> ToolFailure:
    """Translate what the system said about a path into the failure that fits it."""
    shown = named(path)
    said = os.strerror(error.errno) if error.errno else str(error)
    match error.errno:
        case errno.ENOENT:
            return NotFound(f"{shown} does not exist.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return PermissionDenied(
                f"{shown}: the system refuses access ({said}). Its permissions would have to be "
                "changed by its owner."
            )
        case errno.ENAMETOOLONG:
            return InvalidArguments(f"{shown}: a name in this path is too long.")
        case errno.ENOTDIR:
            return not_a_folder(path, "a part of it")
        case errno.ELOOP:
            return too_many_links(path)
        case _:
            return ExecutionFailed(f"{shown}: {said}.")
