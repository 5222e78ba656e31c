"""The model's running text on the screen: wrapped between words while it streams. Uses rich."""

from typing import Protocol

from rich.text import Text

from pluggableharness.kernel.frontends.lines import WordWrap
from pluggableharness.kernel.frontends.looks import UNFOLDED, Looks
from pluggableharness.kernel.frontends.markdown_text import MarkdownText
from pluggableharness.kernel.frontends.screen import Screen
from pluggableharness.kernel.frontends.text import LiveText

_WIDEST = 100


class _Flow(Protocol):
    """What lays out the text of a message, piece by piece."""

    def feed(self, text: str, width: int) -> Text:
        """What can be drawn after the next piece."""
        ...

    def finish(self, width: int) -> Text:
        """What was held back."""
        ...


class Prose:
    """Writes one message after another. `said` is the last one so far, as the model wrote it.

    Where there are colours Markdown is drawn; elsewhere its marks are all there is to see of
    it, and stay.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._safe = LiveText(screen.looks.encoding)
        self._flow = _flow(screen.looks)
        self._breaks = ""
        self._is_open = False
        self.turn_id = ""
        self.said = ""

    def feed(self, turn_id: str, text: str) -> None:
        """The next piece of a turn's text. Line breaks around the whole of it are left out."""
        if turn_id != self.turn_id:
            self.finish()
            self.turn_id, self.said = turn_id, ""
        self.said += text
        self._write(self._safe.feed(text))

    def finish(self) -> None:
        """The message is complete, or something else has to be written."""
        if not self._is_open:
            return
        self._write(self._safe.finish())
        self._screen.text(self._flow.finish(self._width))
        self._screen.end_line()
        self._breaks = ""
        self._is_open = False

    @property
    def _width(self) -> int:
        width = self._screen.width
        return width if width == UNFOLDED else min(width, _WIDEST)

    def _write(self, text: str) -> None:
        text = self._breaks + text.replace("\r", "").expandtabs(4)
        written = text.rstrip("\n")
        self._breaks = text[len(written) :]
        if not self._is_open:
            written = written.lstrip("\n")
        if written:
            self._is_open = True
            self._screen.text(self._flow.feed(written, self._width))
        elif not self._is_open:
            self._breaks = ""


def _flow(looks: Looks) -> _Flow:
    return MarkdownText(looks) if looks.colour else WordWrap(looks.glyphs.ours)
