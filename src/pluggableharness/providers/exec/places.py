"""Where a command runs. Looks at folders and never changes one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.script import program_text
from pluggableharness.sdk import InvalidArguments, NotFound

ROOT: Final = Path("/")


def folder_of(working_directory: Path, asked: str | None) -> tuple[Path, str | None]:
    """Return the folder to run in, and a note if it is not the one that was meant (P9).

    A folder that the call names must be there. The session's own may have been deleted by an
    earlier command, and an error would then be the answer to every call, so the nearest one
    that is left above it is taken instead; preview and result say so.

    Raises:
        NotFound: the call names a folder that does not exist.
        InvalidArguments: it names something else than a folder.
    """
    if asked is not None:
        return named_folder(working_directory, asked), None
    nearest = next(
        (folder for folder in (working_directory, *working_directory.parents) if folder.is_dir()),
        ROOT,
    )
    if nearest == working_directory:
        return nearest, None
    return nearest, f"{working_directory} does not exist any more: ran in {nearest}"


def named_folder(working_directory: Path, asked: str) -> Path:
    """Return the folder that a call names; raises as `folder_of` does."""
    program_text(asked, "working_directory")
    folder = working_directory / asked
    if not folder.exists():
        raise NotFound(f"working_directory: {folder} does not exist")
    if not folder.is_dir():
        raise InvalidArguments(f"working_directory: {folder} is not a folder")
    return folder
