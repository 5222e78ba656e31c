"""The kernel's log as lines on standard error, of which none can move a cursor (K28).

Where a terminal shows both the log and a session, the session's frontend draws it: its lines
wait while something is typed, and tear no line that is rewritten in place.
"""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from pluggableharness.kernel.frontends.text import on_a_line

_LOGGER = "pluggableharness"
"""Everything that the kernel, and providers through it, log is below this logger."""


class _Lines(logging.Formatter):
    """`harness: warning: provider.web: …`, each line of a traceback by itself."""

    def format(self, record: logging.LogRecord) -> str:
        """The record in lines."""
        of = record.name.removeprefix(f"{_LOGGER}.")
        head = f"harness: {record.levelname.lower()}: {of}: "
        lines = super().format(record).splitlines() or [""]
        return "\n".join(head + on_a_line(line) for line in lines)


class _Drawn:
    """A stream of which each line is drawn on the loop, whichever thread has written it."""

    def __init__(self, draw: Callable[[str], None]) -> None:
        self._draw = draw
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def write(self, text: str) -> None:
        """Draw a line."""
        line = text.rstrip("\n")
        if threading.get_ident() == self._thread:
            self._draw(line)
        else:
            self._loop.call_soon_threadsafe(self._draw, line)

    def flush(self) -> None:
        """Do nothing: drawing waits for nothing but a person."""


_handler = logging.StreamHandler[TextIO | _Drawn](sys.stderr)


def show_log() -> None:
    """Have what is logged from now on printed; how much of it is agent.hcl's to say."""
    _handler.setStream(sys.stderr)
    _handler.setFormatter(_Lines())
    logging.getLogger(_LOGGER).handlers = [_handler]


@contextmanager
def log_drawn_by(draw: Callable[[str], None]) -> Iterator[None]:
    """For the length of a block let `draw` show the log's lines, if a terminal would show them."""
    if not (os.isatty(1) and os.isatty(2)):
        yield
        return
    before = _handler.stream
    _handler.setStream(_Drawn(draw))
    try:
        yield
    finally:
        _handler.setStream(before)
