"""The rows of a session by turns, without what providers emitted in its place."""

from collections.abc import Iterable, Iterator

from pluggableharness.kernel.domain.event import Event, EventKind

_OF_CALLS = (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)


def stretches(events: Iterable[Event]) -> Iterator[list[Event]]:
    """A message with all rows up to the next one; what stands before the first by itself.

    A provider may emit rows of the same kinds as the kernel's, about anything. Only those
    about calls that were sent to it count, and of those it could have said the same by
    answering.
    """
    stretch: list[Event] = []
    for event in events:
        kernels = event.producer.category == "kernel"
        if event.kind == EventKind.MESSAGE and kernels and stretch:
            yield stretch
            stretch = []
        if kernels or event.kind in _OF_CALLS:
            stretch.append(event)
    if stretch:
        yield stretch
