"""As much of a terminal as our own output needs, to see what a person would see."""

import re

_CONTROL = re.compile("\x1b\\[[0-9;]*m|\x1b\\[K|\r|\n|[^\x1b\r\n]+|.", re.DOTALL)


def seen(output: str) -> list[str]:
    """The lines on the screen after `output`; any sequence that is not ours is an error."""
    lines = [""]
    column = 0
    for part in _CONTROL.findall(output):
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
            column = 0
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif part.startswith("\x1b[") and part.endswith("m"):
            continue
        else:
            assert part.isprintable(), f"raw {part!r} reached the terminal"
            lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part) :]
            column += len(part)
    return lines
