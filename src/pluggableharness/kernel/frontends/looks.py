"""What a terminal can do, and what we draw with there."""

from collections.abc import Mapping
from dataclasses import dataclass

from pluggableharness.kernel.frontends.outlet import Outlet

_NARROWEST = 40
_WIDEST = 200
UNFOLDED = 10_000
"""Columns where no terminal is: nothing is folded there."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The few signs that lines are drawn with."""

    done: str = "✓"
    failed: str = "✗"
    running: str = "▸"
    top: str = "┌"
    bar: str = "│"
    bottom: str = "└"
    output: str = "┊"
    dot: str = "·"
    tab: str = "→"
    bullet: str = "•"
    ellipsis: str = "…"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    rule: str = "─"
    filled: str = "█"
    empty: str = "░"

    @property
    def ours(self) -> str:
        """The signs that lines of ours begin with, and no line of anybody else."""
        return self.done + self.failed + self.running + self.top + self.bar + self.bottom


UNICODE = Glyphs()
ASCII = Glyphs("+", "x", ">", ".", "|", "`", ":", "-", ">", "*", "...", "|/-\\", "-", "#", ".")


@dataclass(frozen=True, slots=True)
class Looks:
    """What may be used: colours, a line that is rewritten in place, characters beyond ASCII.

    `encoding` is that of the output; a character that it lacks is shown as an escape.
    """

    colour: bool = False
    cursor: bool = False
    encoding: str = "utf-8"
    glyphs: Glyphs = UNICODE


def looks_of(outlet: Outlet, environ: Mapping[str, str]) -> Looks:
    """What the terminal behind `outlet` can do, as its environment tells (K32).

    No colours with NO_COLOR, with TERM=dumb or without a terminal; ASCII where the locale is C
    or cannot encode the signs. Python itself reads LC_ALL=C as UTF-8; a person who sets it
    means that the terminal is not up to that.
    """
    clever = outlet.is_terminal and environ.get("TERM", "") not in ("", "dumb", "unknown")
    return Looks(
        colour=clever and not environ.get("NO_COLOR"),
        cursor=clever,
        encoding="ascii" if environ.get("LC_ALL") in ("C", "POSIX") else outlet.encoding,
        glyphs=UNICODE if _holds_glyphs(outlet.encoding, environ) else ASCII,
    )


def width_of(outlet: Outlet, environ: Mapping[str, str]) -> int:
    """The columns to draw in, asked anew for each drawing since windows are resized."""
    columns = outlet.columns or _number(environ.get("COLUMNS", ""))
    if not columns:
        # No terminal shows it, and whoever reads it, a program say, has lines of any length.
        return 80 if outlet.is_terminal else UNFOLDED
    return min(max(columns, _NARROWEST), _WIDEST)


def _holds_glyphs(encoding: str, environ: Mapping[str, str]) -> bool:
    if environ.get("LC_ALL") in ("C", "POSIX"):
        return False
    try:
        "".join(getattr(UNICODE, name) for name in Glyphs.__slots__).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
