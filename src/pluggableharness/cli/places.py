"""Where a command works."""

from pathlib import Path

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.schema.violation import quoted


def working_directory(given: str) -> Path:
    """The absolute working directory. Raises UsageError when it is none."""
    path = Path(given).absolute()
    try:
        there = path.is_dir()
    except OSError:  # too long to be the name of anything
        there = False
    if not there:
        raise UsageError(f"--cwd {quoted(given)}: not a directory; name one that exists")
    return path
