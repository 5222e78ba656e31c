"""How a message repeats a path or a name that somebody sent: in one line that has an end."""

from typing import Final

LONGEST_NAME: Final = 400


def in_quotes(text: str, most: int = LONGEST_NAME) -> str:
    """The text in quotes, nothing in it hidden, and cut after `most` characters."""
    return repr(text) if len(text) <= most else f"{text[:most] + '…'!r} ({len(text)} characters)"
