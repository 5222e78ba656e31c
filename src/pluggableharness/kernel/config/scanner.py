"""Where in a text the parser stands: blanks, comments, newlines that count or do not, words.

Works on the text itself, without a list of tokens: in HCL2 the same characters are other
tokens inside a template, and only the parser knows where it is.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pluggableharness.kernel.config.source import Source, Span

_BLANK = re.compile(r"(?:[ \t]+|/\*.*?\*/|(?:#|//)[^\n]*)+", re.DOTALL)
_BLANK_OR_NEWLINE = re.compile(r"(?:[ \t\n]+|\r\n|/\*.*?\*/|(?:#|//)[^\n]*)+", re.DOTALL)
_NEWLINE = re.compile(r"\r?\n")
_WORD = re.compile(r"[^\W\d][\w-]*")
_DEEPEST = 64
"""Levels, two of them a parenthesis: more than people write, fewer than the stack has."""


class SyntaxProblem(Exception):
    """The text is not HCL2 from here on; nothing after it can be judged."""

    def __init__(self, span: Span, message: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message


class NotTaken(SyntaxProblem):
    """The text is HCL2, of a kind that agent.hcl has no use for and does not take."""


class Scanner:
    """A place in a text, and steps from it. Blanks and comments are passed before each step."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 1 if source.text.startswith("\ufeff") else 0
        self.newlines_count = True
        self.opened: list[Span] = []
        """The heads of the blocks that are open here, the innermost last."""
        self._depth = 0

    @contextmanager
    def newlines(self, count: bool) -> Iterator[None]:
        """Say whether newlines end things within the block, and that it is a level deeper."""
        before = self.newlines_count
        self.newlines_count = count
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotTaken(self.here(), "this is nested too deeply")
        try:
            yield
        finally:
            self.newlines_count = before
            self._depth -= 1

    def skip(self) -> int:
        """Pass blanks, comments and newlines that do not count; where the next thing starts."""
        blank = _BLANK if self.newlines_count else _BLANK_OR_NEWLINE
        found = blank.match(self.text, self.at)
        if found:
            self.at = found.end()
        if self.text.startswith("/*", self.at):
            raise SyntaxProblem(self.here(), "this comment is not closed; end it with */")
        return self.at

    def next(self, pattern: "re.Pattern[str]") -> "re.Match[str] | None":
        """The pattern where the next thing starts, without stepping over it."""
        return pattern.match(self.text, self.skip())

    def take(self, pattern: "re.Pattern[str]") -> "re.Match[str] | None":
        """The pattern where the next thing starts, stepped over."""
        found = self.next(pattern)
        if found:
            self.at = found.end()
        return found

    def takes(self, mark: str) -> bool:
        """Whether the next thing is this mark, stepped over if so."""
        if not self.text.startswith(mark, self.skip()):
            return False
        self.at += len(mark)
        return True

    def word(self) -> str | None:
        """The next identifier, stepped over; None when the next thing is none."""
        found = self.next(_WORD)
        if found is None or not found.group().replace("-", "_").isidentifier():
            return None
        self.at = found.end()
        return found.group()

    def newline(self) -> bool:
        """Whether the next thing is a newline, stepped over if so."""
        return self.take(_NEWLINE) is not None

    def ended(self) -> bool:
        """Whether nothing is left."""
        return self.skip() >= len(self.text)

    def since(self, start: int) -> Span:
        """The span from an offset to here."""
        return Span(start, self.at)

    def here(self) -> Span:
        """The word, or else the character, that stands here."""
        found = _WORD.match(self.text, self.at)
        return Span(self.at, found.end() if found else min(self.at + 1, len(self.text)))

    def expected(self, what: str) -> SyntaxProblem:
        """The problem that something else stands here."""
        self.skip()
        return SyntaxProblem(self.here(), f"expected {what}, found {self._found()}")

    def _found(self) -> str:
        if self.at >= len(self.text):
            return "the end of the file"
        if _NEWLINE.match(self.text, self.at):
            return "the end of the line"
        return f"'{self.source.cut(self.here())}'"
