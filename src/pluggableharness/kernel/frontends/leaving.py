"""What has to be undone however this process is left: modes of terminals, files, an editor."""

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_open: list[Callable[[], object]] = []
"""What undoes it, the latest last."""


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` at the end of a block, or before that when the process leaves within it."""
    _open.append(undo)
    try:
        yield
    finally:
        if undo in _open:
            _open.remove(undo)
            undo()


def undo_all() -> None:
    """Undo everything, the latest first: for whoever leaves without unwinding."""
    while _open:
        _open.pop()()


atexit.register(undo_all)  # a loop that is torn down may never resume us
