"""The one place where a drawing frontend writes: lines, running text, and a foot. Uses rich.

The foot is a line at the bottom that says what is going on and is rewritten in place; it needs
a cursor and is not drawn without one. While a question is open the screen is held: what is
drawn meanwhile waits in order, so that nothing tears the question.
"""

import asyncio
import io
import os
from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from pluggableharness.kernel.frontends.lines import joined
from pluggableharness.kernel.frontends.looks import Looks, looks_of, width_of
from pluggableharness.kernel.frontends.outlet import Outlet

_MOST_HELD = 256 * 1024
_CLEAR = "\r\x1b[K"
_KEEP_PLACE = "\x1b7"
_TAKE_BACK = (
    "\x1b[?1049l"  # from the other screen back to the place that was kept
    "\x1b[?1l\x1b>"  # usual arrow keys and keypad
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l"  # no mouse, focus, paste
    "\x1b[0m\x1b[?25h\r\x1b[K"  # no colours, a cursor, an empty line
)

# The sixteen colours of the terminal's own palette: they fit its background, whichever it is.
_THEME = Theme(
    {
        "faint": "dim",
        "code": "cyan",
        "strong": "bold",
        "emphasis": "italic",
        "link": "underline",
        "success": "green",
        "warning": "yellow",
        "error": "red",
        "escape": "bold magenta",
        "hidden": "yellow",
        "added": "green",
        "removed": "red",
        "changed": "reverse",
        "key": "bold",
        "risk.read_only": "dim",
        "risk.low": "green",
        "risk.moderate": "yellow",
        "risk.high": "red",
        "risk.critical": "bold red reverse",
    },
    inherit=False,
)


class Screen:
    """Writes safe text and styled lines; knows whether the last line is still open."""

    def __init__(
        self, outlet: Outlet, looks: Looks | None = None, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.looks = looks or looks_of(outlet, environ)
        self._outlet = outlet
        self._environ = environ
        self._console = Console(
            file=io.StringIO(),
            force_terminal=self.looks.colour,
            color_system="standard" if self.looks.colour else None,
            no_color=not self.looks.colour,
            theme=_THEME,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            width=width_of(outlet, environ),
        )
        self._line_is_open = False
        self._foot = ""
        self._held: list[str] | None = None
        self._held_size = 0
        self._room = asyncio.Event()
        self._room.set()

    @property
    def width(self) -> int:
        """The columns at this moment, within 40 and 200; UNFOLDED where no terminal is."""
        return width_of(self._outlet, self._environ)

    @property
    def height(self) -> int:
        """The rows at this moment; 0 where no terminal is, which shows any number."""
        return self._outlet.rows

    def lines(self, lines: Iterable[Text]) -> None:
        """Write whole lines, on lines of their own."""
        written = self._styled(joined(lines))
        self._write(("\n" if self._line_is_open else "") + written + "\n")
        self._line_is_open = False

    def behind(self, margin: Text, lines: Iterable[str]) -> None:
        """Write many lines of safe text behind one margin; a flood of output takes this way."""
        start = self._styled(margin)
        written = "".join(f"{start}{line}\n" for line in lines)
        self._write(("\n" if self._line_is_open else "") + written)
        self._line_is_open = False

    def text(self, text: Text) -> None:
        """Write running text that is safe already."""
        if text:
            self._write(self._styled(text))
            self._line_is_open = not text.plain.endswith("\n")

    def end_line(self) -> None:
        """End running text, if a line of it is open."""
        if self._line_is_open:
            self.text(Text("\n"))

    def foot(self, text: Text | None) -> None:
        """Show what is going on in the last line, or nothing; without a cursor never anything."""
        if not self.looks.cursor:
            return
        foot = "" if text is None else self._styled(_one_line(text, self.width - 1))
        if foot != self._foot and self._held is None and not self._line_is_open:
            self._outlet.write(_CLEAR + foot)
        self._foot = foot

    def hold(self) -> None:
        """Keep back what is written from now on; `question` still writes."""
        self.end_line()
        if self._foot and self._held is None:
            self._outlet.write(_CLEAR)
        self._held = []

    def question(self, text: Text, *, end: str = "\n") -> None:
        """Write past the hold, for the one question that is open."""
        self._outlet.write(self._styled(text) + end)

    def release(self, above: Iterable[Text] = ()) -> bool:
        """Write what was held back, below the lines `above`; whether there was any."""
        held, self._held = "".join(self._held or ()), None
        self._held_size = 0
        self._room.set()
        if held:
            self._outlet.write(self._styled(joined([*above, Text()])) + held)
        if self._foot and not self._line_is_open:
            self._outlet.write(self._foot)
        return bool(held)

    def lend(self) -> None:
        """Let another program draw from here on."""
        if self.looks.cursor:
            self._outlet.write(_KEEP_PLACE)

    def take_back(self) -> None:
        """Draw again after a program that was ended before it could leave the screen in order."""
        if self.looks.cursor:
            self._outlet.write(_TAKE_BACK)

    async def room(self) -> None:
        """Wait while more is held back than 256 KiB: whoever writes must slow down (P14)."""
        await self._room.wait()

    def _write(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
            self._held_size += len(text)
            if self._held_size > _MOST_HELD:
                self._room.clear()
            return
        if not self._foot:
            self._outlet.write(text)
            return
        foot = self._foot if text.endswith("\n") else ""
        clear = "" if self._line_is_open else _CLEAR
        self._outlet.write(clear + text + foot)

    def _styled(self, text: Text) -> str:
        with self._console.capture() as capture:
            self._console.print(text, soft_wrap=True, end="")
        return capture.get()


def _one_line(text: Text, width: int) -> Text:
    cut = text.copy()
    cut.truncate(width, overflow="crop")
    return cut
