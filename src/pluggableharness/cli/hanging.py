"""Lists whose last column is text: folded in its own column where a terminal shows them."""

import shutil
import sys
import textwrap

_NARROW = 20


def hanging(start: str, text: str) -> str:
    """A line of `start` and, beside it, a text, which is one line for whatever is no terminal."""
    room = shutil.get_terminal_size().columns - len(start)
    if not sys.stdout.isatty() or room < _NARROW:
        return start + text
    folded = [
        part
        for line in text.splitlines()
        for part in textwrap.wrap(line, room, break_on_hyphens=False)
    ]
    return start + f"\n{' ' * len(start)}".join(folded)
