"""How a message repeats what somebody sent: in one line, or in a text that has an end."""

from typing import Final

LONGEST_NAME: Final = 400


def bounded(text: str, most: int) -> str:
    """The text; of one of more than `most` characters the beginning, and how long it was."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def in_quotes(text: str, most: int = LONGEST_NAME) -> str:
    """The text in quotes, nothing in it hidden, and cut after `most` characters."""
    return repr(text) if len(text) <= most else f"{text[:most] + '…'!r} ({len(text)} characters)"
