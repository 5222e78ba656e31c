"""A configuration file's text, places in it, and mistakes shown at their places (F1)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pluggableharness.kernel.domain.errors import UsageError

_QUOTED = re.compile(r'\benv\("[A-Za-z_][A-Za-z0-9_]*"\)|"((?:[^"\\]|\\.)*)("?)')
"""What is quoted, and first the name of a variable, which is what a secret is to be."""
_SHOWN = 120
"""Characters of an offending line that are shown."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text, as offsets in characters; `end` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name as it is to be shown, and its text."""

    name: str
    text: str

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, columns in characters."""
        return self.text.count("\n", 0, offset) + 1, offset - self._line_start(offset) + 1

    def where(self, span: Span) -> str:
        """The place as editors take it: `agent.hcl:3:5`."""
        line, column = self.place(span.start)
        return f"{self.name}:{line}:{column}"

    def cut(self, span: Span) -> str:
        """The text of a span."""
        return self.text[span.start : span.end]

    def pointed(self, span: Span, *, masked: bool) -> str:
        """The line of a span with the span underlined, as two lines.

        `masked` ends it with the span, and hides what is quoted before, but for the names of
        variables.
        """
        start = self._line_start(span.start)
        column = span.start - start + 1
        full = self.text[start:].split("\n", 1)[0].rstrip("\r")
        if masked:
            before_end = full[: max(0, span.end - start)]
            full = _QUOTED.sub(_hidden, before_end)
        shown = full[:_SHOWN].replace("\t", " ")
        width = max(1, min(span.end - span.start, len(shown) - column + 1))
        return f"    {shown}\n    {' ' * (column - 1)}{'^' * width}"

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it stands, and what is wrong and would be right.

    A problem that is `secret` stands in a line that may hold one, of which quoted text is then
    not shown (F6).
    """

    span: Span
    message: str
    secret: bool = False


class ConfigError(UsageError):
    """A configuration cannot be used; the message shows every problem, in the file's order."""

    def __init__(self, source: Source, problems: Iterable[Problem]) -> None:
        """Draw the problems at their places."""
        self.source = source
        self.problems = tuple(sorted(problems, key=lambda one: (one.span.start, one.message)))
        super().__init__("\n".join(drawn(source, problem) for problem in self.problems))


def _hidden(quoted: "re.Match[str]") -> str:
    if quoted.group(1) is None:
        return quoted.group()
    return f'"{"*" * len(quoted.group(1))}{quoted.group(2)}'


def drawn(source: Source, problem: Problem) -> str:
    """A problem as a person reads it: place, message, and the line."""
    line = source.pointed(problem.span, masked=problem.secret)
    return f"{source.where(problem.span)}: {problem.message}\n{line}"
