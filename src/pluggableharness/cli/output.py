"""Whether what a command wrote has left it: output that is lost is a failure (K33)."""

import errno
import os
import sys


def attach_streams() -> bool:
    """Put nothing in the place of closed input and errors; False for closed output.

    A stream that is closed would be None to every command, and its number would go to the next
    file that is opened.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # for the whole process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # likewise
    return sys.stdout is not None


_OF_WRITING = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def is_of_output(error: OSError) -> bool:
    """Whether an error is of writing to a stream: it names no file, and only writing fails so."""
    return error.filename is None and error.errno in _OF_WRITING


def lost_output() -> OSError | None:
    """Why standard output was not written, whoever wrote it; None when all of it was.

    What could not be written is forgotten, so that nothing fails again when Python ends.
    """
    lost = _unflushed()
    # A command that shows nothing through an outlet has not loaded it, and need not.
    outlets = sys.modules.get("pluggableharness.kernel.frontends.outlet")
    return lost or (outlets.Outlet.unwritten if outlets is not None else None)


def _unflushed() -> OSError | None:
    try:
        sys.stdout.flush()
    except OSError as error:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        return error
    return None
