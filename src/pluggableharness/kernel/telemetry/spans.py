"""What a trace is made of, whoever collects it."""

from collections.abc import Mapping
from typing import Protocol

Attribute = str | int | float | bool
"""A value that a span may carry: ids, names, counts and categories, never what a call says."""


class Span(Protocol):
    """A stretch of time with a name; it begins when it is made."""

    def note(self, attributes: Mapping[str, Attribute]) -> None:
        """Add attributes."""
        ...

    def fail(self, why: str) -> None:
        """Say that it did not end well; `why` is a category, never a message."""
        ...

    def end(self) -> None:
        """End it; what is noted later is lost."""
        ...


class Tracer(Protocol):
    """Takes spans and sees to the rest; never waits, and never raises."""

    def start(self, name: str, above: Span | None, attributes: Mapping[str, Attribute]) -> Span:
        """Begin a span below another one of this tracer, or a trace of its own."""
        ...

    async def close(self) -> None:
        """Send what has ended, within a bounded time."""
        ...
