"""Where the logs of sessions are, and that nobody else can put files there."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from pluggableharness.kernel.store.errors import NoStateDirectory

SUFFIX = ".sqlite"


def sessions_directory(environ: Mapping[str, str]) -> Path:
    """Where the logs of sessions are (K27). Raises NoStateDirectory."""
    return state_directory(environ) / "sessions"


def state_directory(environ: Mapping[str, str]) -> Path:
    """`$XDG_STATE_HOME/pluggableharness`, by default below `~/.local/state`.

    Whoever writes there changes records, and what people are taken to have allowed.

    As the XDG rules have it, a relative XDG_STATE_HOME counts as unset. Raises
    NoStateDirectory when HOME is needed and does not say where home is: the password
    database is not asked, since whoever cleared HOME did not want that one.
    """
    state = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        home = environ.get("HOME", "")
        if not os.path.isabs(home):
            raise NoStateDirectory(
                "There is no place for session logs: HOME is not set to an absolute path. Set "
                "HOME, or XDG_STATE_HOME to a directory of yours."
            )
        state = os.path.join(home, ".local", "state")
    return Path(state, "pluggableharness")


def make_private(directory: Path) -> None:
    """Create the directory and what is missing above it, for its owner alone.

    One that exists must be ours, and writable by nobody else: whoever can write there can
    put another file in a log's place. Raises NoStateDirectory.
    """
    try:
        for missing in reversed([d for d in (directory, *directory.parents) if not d.exists()]):
            missing.mkdir(0o700, exist_ok=True)
        found = directory.stat()
    except OSError as error:
        raise NoStateDirectory(
            f"The directory for session logs cannot be made: {error}. Set XDG_STATE_HOME to a "
            "directory that you may write to."
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise NoStateDirectory(f"{directory} is not a directory of yours. Remove or rename it.")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NoStateDirectory(f"Others may write to {directory}. Run: chmod 700 '{directory}'")


def unreadable(directory: Path, error: OSError) -> NoStateDirectory:
    """What is wrong with a directory for session logs that cannot be listed."""
    return NoStateDirectory(
        f"The session logs in {directory} cannot be listed: {error.strerror}. Set XDG_STATE_HOME "
        "to a directory that you may read and write."
    )


def log_path(directory: Path, session_id: str) -> Path:
    """The file of a session."""
    return directory / f"{session_id}{SUFFIX}"
