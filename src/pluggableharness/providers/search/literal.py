"""What a call says without a wildcard: a path that is looked up, text that must be sayable."""

import os
import stat
from pathlib import Path

from pluggableharness.providers.search.area import spelled
from pluggableharness.providers.search.pattern import Pattern
from pluggableharness.sdk import InvalidArguments, NotFound
from pluggableharness.sdk.jail import Jail, visible
from pluggableharness.sdk.naming import named


def refuse_unsayable(**values: str | None) -> None:
    """Raise InvalidArguments for text that cannot be passed to a program."""
    for field, value in values.items():
        if value is None:
            continue
        if "\0" in value:
            raise InvalidArguments(f"{field} holds a NUL, which no text file and no name has.")
        try:
            os.fsencode(value)
        except UnicodeEncodeError:
            raise InvalidArguments(
                f"{field} {named(value)} holds half of a surrogate pair: send whole characters."
            ) from None


def named_file(
    jail: Jail, base: Path, path: str | None, written: str, pattern: Pattern
) -> str | None:
    """Look up a pattern that is a path: what it is called, or None where no file is.

    It may lead through links, and be hidden or ignored, since it was written out. Raises as the
    jail does when it leads out, and InvalidArguments for a folder.
    """
    if pattern.literal is None:
        return None
    if path is not None:
        os.close(jail.open(path, base=base))
    shown = spelled(path, pattern.literal).removesuffix("/")
    try:
        with jail.locate(shown or "/", base=base) as place:
            status = place.status
    except NotFound:
        return None
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise InvalidArguments(
            f"{named(shown)} is a folder, and a glob is for files. Those in it are "
            f"{named(written)}/**."
        )
    return visible(shown) if status is not None and stat.S_ISREG(status.st_mode) else None
