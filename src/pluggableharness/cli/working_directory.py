"""Where a command works."""

from pathlib import Path

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.quoting import in_quotes


def working_directory(given: str) -> Path:
    """The absolute working directory. Raises UsageError when it is none."""
    try:
        path = Path(given).absolute()
    except OSError as error:
        raise UsageError(
            "the directory in which this was started is gone; change to one that exists"
        ) from error
    try:
        there = path.is_dir()
    except OSError:  # too long to be the name of anything
        there = False
    if not there:
        raise UsageError(f"--cwd {in_quotes(given)}: not a directory; name one that exists")
    return path
