"""Where a command works."""

from pathlib import Path

from pluggableharness.kernel.domain.errors import UsageError


def working_directory(given: str) -> Path:
    """The absolute working directory. Raises UsageError when it is none."""
    path = Path(given).absolute()
    if not path.is_dir():
        raise UsageError(f"--cwd {given}: not a directory; name one that exists")
    return path
