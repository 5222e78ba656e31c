"""How a command says that something is wrong: on stderr, safe to look at, and not without end.

Its own arguments, names of files and the words of providers stand in what it says, and any of
these may hold what moves a cursor. So nothing is said but through here.
"""

import sys

from pluggableharness.kernel.domain.quoting import bounded
from pluggableharness.kernel.frontends.text import on_a_line

_LONGEST = 20_000


def complain(message: object, *, kind: str = "harness") -> None:
    """Say it on stderr, behind `kind`."""
    print(told(f"{kind}: {message}"), file=sys.stderr)


def told(message: str) -> str:
    """The message as it may be printed, cut where it is too long; its own lines stay lines."""
    return whole(bounded(message, _LONGEST))


def whole(text: str) -> str:
    """A text as it may be printed and with all of it, as for a decision about it."""
    return "\n".join(map(on_a_line, text.split("\n")))
