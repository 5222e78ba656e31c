"""Which log a person means."""

import os
from pathlib import Path

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.store.location import SUFFIX, log_path, sessions_directory, unreadable

_LISTED = 5


def find_log(given: str) -> Path:
    """The log of that id, of the only id that begins so, or at that path.

    Raises UsageError and NoStateDirectory.
    """
    if given.endswith(SUFFIX) or os.sep in given:
        return Path(given)
    directory = sessions_directory(os.environ)
    start = given.upper()
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(SUFFIX))
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise unreadable(directory, error) from error
    found = [name.removesuffix(SUFFIX) for name in names if name.startswith(start)]
    if start in found:
        found = [start]
    if len(found) == 1:
        return log_path(directory, found[0])
    if not found:
        raise UsageError(
            f"there is no session {in_quotes(given)}. See: harness sessions list --all"
        )
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    raise UsageError(
        f"{in_quotes(given)} may be {', '.join(found[:_LISTED])}{more}. Give more of the id"
    )
