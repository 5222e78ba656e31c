"""Where a command runs. Looks at folders and never changes one."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.script import program_text
from pluggableharness.sdk import ConcurrencyConflict, ExecutionFailed, InvalidArguments, NotFound
from pluggableharness.sdk.jail import open_folder
from pluggableharness.sdk.naming import named

ROOT: Final = Path("/")


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a command runs.

    `note` is for a reader when it is not the folder that was meant. `identity`, device and
    inode, is that of a folder which was approved and shown, so that no other is run in.
    """

    path: Path
    note: str | None = None
    identity: tuple[int, int] | None = None


def folder_of(working_directory: Path, asked: str | None, approved: str | None = None) -> Folder:
    """Return the folder to run in (P9).

    A folder that the call names must be there; `approved` is where it led to when the call was
    judged, if that is known (K10a). The session's own may have been deleted by an earlier
    command, and an error would then be the answer to every call, so the nearest one that is
    left above it is taken instead; preview and result say so.

    Raises:
        NotFound: the call names a folder that does not exist.
        InvalidArguments: it names something else than a folder.
        ConcurrencyConflict: a link has come into the way of the approved one.
    """
    if asked is not None:
        return named_folder(working_directory, asked, approved)
    nearest = next(
        (folder for folder in (working_directory, *working_directory.parents) if folder.is_dir()),
        ROOT,
    )
    if nearest == working_directory:
        return Folder(nearest)
    return Folder(nearest, f"{working_directory} does not exist any more: ran in {nearest}")


def named_folder(working_directory: Path, asked: str, approved: str | None) -> Folder:
    """Return the folder that a call names; raises as `folder_of` does."""
    program_text(asked, "working_directory")
    folder = working_directory / (approved or asked)
    try:
        status = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"working_directory: {named(str(folder))} does not exist") from None
    except OSError as error:
        said = f"working_directory: {named(str(folder))}: {error.strerror}"
        raise InvalidArguments(said) from None
    if not stat.S_ISDIR(status.st_mode):
        raise InvalidArguments(f"working_directory: {named(str(folder))} is not a folder")
    return Folder(folder, identity=_identity(folder, asked) if approved else None)


def _identity(folder: Path, asked: str) -> tuple[int, int]:
    """Return device and inode of a folder on whose way no link is."""
    try:
        descriptor = open_folder(folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise led_elsewhere(asked) from None
        where = named(str(folder))
        raise ExecutionFailed(f"working_directory: {where}: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return status.st_dev, status.st_ino


def led_elsewhere(asked: str | Path) -> ConcurrencyConflict:
    """Make the error for a folder that is another by the time that it is used."""
    return ConcurrencyConflict(
        f"working_directory: {named(str(asked))} leads elsewhere now than when this call was "
        "approved; nothing was run. Look what is there, then call again."
    )
