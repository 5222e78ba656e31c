"""As much of a terminal as our own output needs, to see what a person would see."""

import re

_CONTROL = re.compile("\x1b\\[[0-9;]*m|\r\x1b\\[K|\n|[^\x1b\r\n]+|.", re.DOTALL)


def seen(output: str) -> list[str]:
    """The lines on the screen after `output`; any sequence that is not ours is an error."""
    lines = [""]
    for part in _CONTROL.findall(output):
        if part == "\n":
            lines.append("")
        elif part == "\r\x1b[K":
            lines[-1] = ""
        elif not (part.startswith("\x1b[") and part.endswith("m")):
            assert part.isprintable(), f"raw {part!r} reached the terminal"
            lines[-1] += part
    return lines
