"""The lines of a question at the terminal, and what is typed below them. Uses rich."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.text import Text

from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.lines import exact, fold
from pluggableharness.kernel.frontends.screen import Screen


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Writes past the hold of the screen; a question that is cancelled is said to be over."""

    screen: Screen
    keys: Keys

    def say(self, words: str | Text = "", style: str = "") -> None:
        """Write a line of our own words."""
        self.screen.question(Text(words, style) if isinstance(words, str) else words)

    def bar(self, text: str | Text, *, words: bool = False) -> None:
        """Write lines behind the bar that no content can draw: text of anyone's, exact."""
        bar = (self.screen.looks.glyphs.bar + " ", "faint")
        lines = text.split("\n") if isinstance(text, str) else [text]
        for line in lines:
            drawn = (
                line if isinstance(line, Text) else exact(line, self.screen.looks, whole=True).text
            )
            for piece in fold(drawn, self.screen.width - 2, words=words):
                self.say(Text.assemble(bar, piece))

    async def key(
        self, *prompt: str | tuple[str, str], again: Callable[[], None] = lambda: None
    ) -> str | None:
        """What is typed at once at a prompt below the bar; None when nothing will ever come.

        `again` draws what stands above it, after this process was stopped and goes on.
        """
        try:
            return await self.keys.key(lambda: self._ask(*prompt), again)
        except BaseException:
            self.no_longer()
            raise

    async def line(self, *prompt: str | tuple[str, str], fresh: bool = False) -> str | None:
        """The line that is typed at a prompt below the bar; None at the end of the input.

        It is drawn again after this process was stopped and goes on. With `fresh` what was typed
        before is dropped.
        """
        self._ask(*prompt)
        try:
            line = await self.keys.line(lambda: self._ask(*prompt), fresh=fresh)
        except BaseException:
            self.no_longer()
            raise
        if line is None or not self.keys.is_terminal:
            self.say()  # no terminal has echoed the end of the line
        return line

    def no_longer(self) -> None:
        """Say that what was asked is not asked any more."""
        self.say("no longer asked", "warning")

    def _ask(self, *prompt: str | tuple[str, str]) -> None:
        bottom = (self.screen.looks.glyphs.bottom + " ", "faint")
        self.screen.question(Text.assemble(bottom, *prompt), end="")
