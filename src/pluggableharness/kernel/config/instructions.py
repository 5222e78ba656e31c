"""What a model is told beside the history: where it is, and what its profile says (K1, F9).

Whoever can write in the project can write the file that a profile names: what is read is text
for a model, never more, and never from outside the project.
"""

import os
import time

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.profile import InstructionsFile, Profile
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.regular import NotRegular, opened

LARGEST = 128 << 10
"""Bytes: it goes out with every request."""


def instructions(profile: Profile, directory: str) -> str:
    """What the model of a session is told that begins now. Raises UsageError as below."""
    named = profile.instructions_file
    text = read_instructions(named) if named else ""
    return "\n\n".join(filter(None, (_surroundings(directory), profile.instructions, text)))


def _surroundings(directory: str) -> str:
    """Where the model is, without an opinion."""
    system = os.uname()
    return (
        f"Working directory: {directory}\nRelative paths start there.\n"
        f"Operating system: {system.sysname} ({system.machine})\n"
        f"Date: {time.strftime('%Y-%m-%d')}"
    )


def read_instructions(written: InstructionsFile) -> str:
    """The text of the file as it is now.

    Raises UsageError with the place that names it: it is not there, leads out of the project, is
    no regular file, too large, or no UTF-8.
    """
    named = f"{written.place}: instructions_file {in_quotes(written.name)}"
    try:
        data = _bytes(written)
    except NotRegular as error:
        raise UsageError(f"{named} {error.strerror}; name one") from error
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Make the file, or take the line out"
        raise UsageError(f"{named} cannot be read: {reason}. {hint}") from error
    except ValueError as error:
        raise UsageError(f"{named} {error}") from error
    if len(data) > LARGEST:
        limit = f"{LARGEST >> 10} KiB"
        raise UsageError(f"{named} is larger than {limit}; it goes out with every request")
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{named} is not UTF-8 at byte {error.start}; save it as UTF-8") from error


def _bytes(written: InstructionsFile) -> bytes:
    """What the file holds, and a byte more than is allowed of one that is too large."""
    root = os.path.realpath(written.root)
    real = os.path.realpath(os.path.join(root, written.name), strict=True)
    if os.path.commonpath((root, real)) != root:
        raise ValueError(f"leads to {real}, out of the project; name a file of the project")
    with opened(real, os.O_NOFOLLOW) as file:  # a link may have come meanwhile
        return file.read(LARGEST + 1)
