"""The configuration of the project that a directory is in."""

from collections.abc import Mapping
from pathlib import Path

from pluggableharness.kernel.config.config import Config
from pluggableharness.kernel.config.finding import find
from pluggableharness.kernel.config.known import built_in
from pluggableharness.kernel.config.load import load, read_source
from pluggableharness.version import __version__


def project_config(directory: Path, environment: Mapping[str, str]) -> Config | None:
    """What the project's agent.hcl says; None when it has none.

    Raises:
        UsageError: it cannot be used, with every mistake in it.
    """
    path = find(directory)
    return None if path is None else file_config(path, directory, environment)


def file_config(path: Path, directory: Path, environment: Mapping[str, str]) -> Config:
    """What a file says for a working directory.

    Raises:
        UsageError: it cannot be used, with every mistake in it.
    """
    source = read_source(path, shown_path(path))
    return load(
        path, source, environment, built_in(), working_directory=directory, version=__version__
    )


def shown_path(path: Path) -> str:
    """The path as short as it can be said from where the process is."""
    try:
        here = Path.cwd()
    except OSError:  # it is gone
        return str(path)
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
