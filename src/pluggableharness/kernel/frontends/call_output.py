"""`harness call` for people and pipes: output as it comes, then the result (K4, K32).

What a child wrote goes where it wrote it; progress and errors go to standard error. A
terminal gets safe text and drawings, anything else the bytes and texts as they are. Nothing
here imports rich before there is something to draw: a call in a pipeline must start at once.
"""

import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TextIO

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import CallEnded, CallEvent, CallRefused, News, Notice
from pluggableharness.kernel.domain.outcome import (
    Failure,
    LeadUp,
    OutputChunk,
    OutputStream,
    Progress,
    Success,
)
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.json_values import compact, pretty
from pluggableharness.kernel.frontends.outlet import Outlet
from pluggableharness.kernel.frontends.payloads import as_lines, as_node, in_order, main_field
from pluggableharness.kernel.frontends.text import LiveOutput, live, nameable, shown
from pluggableharness.kernel.frontends.words import cut, value_line

_MOST_DETAILS = 2000

Draw = Callable[[Call, Success], Awaitable[RenderNode | None]]
"""How a provider draws a result of its own; None when it does not (P30)."""


class CallOutput:
    """Shows one call. Nobody is asked: calling is the person's own act."""

    attended = False

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, draw: Draw | None = None
    ) -> None:
        """Write to the two streams; `draw` is asked where a terminal shows the result."""
        self._draw = draw
        self._out = Outlet(out or sys.stdout)
        self._err = Outlet(err or sys.stderr)
        self._streams = {
            OutputStream.STDOUT: _Stream(self._out),
            OutputStream.STDERR: _Stream(self._err),
        }
        self._streamed = False
        self._progress: tuple[str, int | None] = ("", None)

    async def hear(self, news: News) -> None:
        """Show what belongs to the call; the frame around it is of no interest here."""
        match news:
            case CallEvent():
                self._event(news.event)
            case CallEnded():
                self._finish_streams()
                await self._out.room()  # both streams may lead to one pipe, which keeps their order
                if isinstance(news.outcome, Success):
                    drawn = await self._drawn(news.call, news.outcome)
                    await self._result(in_order(news.outcome.payload, news.call.operation), drawn)
                else:
                    self._error(news.call.operation.full_name, news.outcome)
            case CallRefused():
                self._error(nameable(news.refused.name), news.refused.failure)
            case Notice():
                self._tell(f"{news.level}: {news.message}")
            case _:
                pass
        await self._out.room()
        await self._err.room()

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Nobody is asked."""
        return None

    async def answer(self, call: Call) -> JsonObject | None:
        """Nobody is asked."""
        return None

    def close(self) -> None:
        """Write what a stream that never ended has left, and all that has not left yet."""
        self._finish_streams()
        self._out.flush()
        self._err.flush()

    def _event(self, event: LeadUp) -> None:
        if isinstance(event, OutputChunk):
            self._streamed = True
            self._streams[event.stream].write(event.data)
        elif isinstance(event, Progress):
            self._show_progress(event)

    def _show_progress(self, progress: Progress) -> None:
        """A line for each new message and each tenth of the way."""
        tenth = None if progress.fraction is None else int(progress.fraction * 10)
        if (progress.message, tenth) == self._progress:
            return
        self._progress = (progress.message, tenth)
        share = "" if progress.fraction is None else f"{progress.fraction:.0%} "
        self._tell(share + progress.message)

    def _finish_streams(self) -> None:
        for stream in self._streams.values():
            stream.finish()

    async def _drawn(self, call: Call, success: Success) -> RenderNode | None:
        """The provider's own drawing; none of what has streamed, nor for a pipe."""
        if self._draw is None or self._streamed or not self._out.is_terminal:
            return None
        return await self._draw(call, success)

    async def _result(self, payload: JsonObject, drawn: RenderNode | None) -> None:
        """The main part on standard output, and what is said about it on standard error."""
        main = main_field(payload)
        if drawn is not None:
            _draw(drawn, self._out)
        elif main is None:
            self._values(payload, self._out)
        elif not (self._streamed and main == "output"):
            self._main(main, payload)
        if main is None:
            return
        await self._out.room()
        self._values({name: value for name, value in payload.items() if name != main}, self._err)

    def _main(self, name: str, payload: JsonObject) -> None:
        if self._out.is_terminal:
            _draw(as_node(name, payload[name]), self._out)
        else:
            self._out.write(as_lines(payload[name]))

    def _values(self, values: JsonObject, outlet: Outlet) -> None:
        for name, value in values.items():
            if value is not None:
                outlet.write(f"{shown(name)}: {value_line(value, outlet.encoding)}\n")

    def _error(self, name: str, failure: Failure) -> None:
        self._tell(f"{name}: {failure.category.value}: {failure.message}")
        details = _beyond(failure.message, failure.details or {})
        if details:
            self._tell(cut(pretty(details), _MOST_DETAILS, " ..."))

    def _tell(self, text: str) -> None:
        self._err.write(live(text, self._err.encoding) + "\n")


def show(node: RenderNode, out: TextIO) -> None:
    """Draw a render tree, a preview say, in full."""
    outlet = Outlet(out)
    _draw(node, outlet, numbered=True)
    outlet.flush()


def _draw(node: RenderNode, outlet: Outlet, *, numbered: bool = False) -> None:
    # rich, which both of these import, takes 50 ms: only who draws pays.
    from pluggableharness.kernel.frontends.drawing import Drawing
    from pluggableharness.kernel.frontends.screen import Screen

    screen = Screen(outlet)
    drawing = Drawing(screen.looks, screen.width, whole=True, with_numbers=numbered)
    screen.lines([*drawing.node(node), *drawing.notes()])


def _beyond(message: str, details: JsonObject) -> JsonObject:
    """The details that a message does not say itself; for programs they are there in any case."""
    return {
        name: value
        for name, value in details.items()
        if not all(_says(message, leaf) for leaf in _leaves(value))
    }


def _says(message: str, leaf: Json) -> bool:
    """Whether a text stands in a message as it is, or a number as a word of it."""
    if isinstance(leaf, str):
        return leaf in message
    return re.search(rf"(?<!\w){re.escape(compact(leaf))}(?!\w)", message) is not None


def _leaves(value: Json) -> Iterator[Json]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


class _Stream:
    """A child's stream on its way out: safe lines on a terminal, bytes elsewhere."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._lines = LiveOutput(outlet.encoding) if outlet.is_terminal else None

    def write(self, data: bytes) -> None:
        if self._lines is None:
            self._outlet.write_bytes(data)
        else:
            self._put(self._lines.feed(data))

    def finish(self) -> None:
        if self._lines is not None:
            self._put(self._lines.finish())

    def _put(self, lines: list[str]) -> None:
        self._outlet.write("".join(line + "\n" for line in lines))
