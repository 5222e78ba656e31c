"""What of a line is shown: all of it, or the part around the match when it is long (C9)."""

from typing import Final

LINE: Final = 400
"""Characters of a line that are shown."""
BLOCK: Final = 2_000
"""Characters that are shown of lines that one match goes over."""
_CUT: Final = "…"
_BEFORE: Final = 100
"""Characters of a long line that are shown before the match."""


def lines_of(text: str) -> list[str]:
    """Part text into its lines, without line ends."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def around(text: str, at: int) -> tuple[str, int | None]:
    """Cut text to what is around a place in it, and say where that starts; None for all of it.

    What is left out is marked, beyond the characters that are shown.
    """
    room = BLOCK if "\n" in text else LINE
    if len(text) <= room:
        return text, None
    start = max(0, min(at - _BEFORE, len(text) - room))
    end = start + room
    left, right = _CUT * (start > 0), _CUT * (end < len(text))
    return f"{left}{text[start:end]}{right}", start


def cut(text: str) -> str:
    """Cut a line of context at its end."""
    return text if len(text) <= LINE else text[:LINE] + _CUT
