"""Running calls on the screen: a calm line for each, its output as it comes, a foot. Uses rich.

A call that ends at once gets one line, written when it has ended. One that takes longer, or
has something to say, is announced, and its output follows behind a bar. When several run at
once each line of output names its call. The foot says what is waited for, and what is spent.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from rich.cells import cell_len
from rich.text import Text

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    ExitStatus,
    Failure,
    LeadUp,
    Outcome,
    OutputChunk,
    OutputStream,
    PartialResult,
    Progress,
)
from pluggableharness.kernel.frontends.endings import announcement, ending
from pluggableharness.kernel.frontends.lines import fold
from pluggableharness.kernel.frontends.screen import Screen
from pluggableharness.kernel.frontends.text import LiveOutput, live, shown
from pluggableharness.kernel.frontends.words import counted, duration

_ANNOUNCED_AFTER_S = 0.5
_TICK_S = 0.12
_PROGRESS_EVERY_S = 2.0
_FOOT_AFTER_S = 0.25
_BAR_CELLS = 10
_NARROWEST_LEFT = 24


@dataclass(slots=True)
class _Running:
    """What the screen knows about a call that has not ended."""

    call: Call
    name: str
    number: str
    since: float
    announced: bool = False
    outputs: dict[OutputStream, LiveOutput] = field(default_factory=dict)
    partials: int = 0
    progress: Progress | None = None
    progress_told: float = 0.0

    @property
    def label(self) -> str:
        """What tells the call from the others that run."""
        return self.name + self.number

    @property
    def latest(self) -> str:
        """The unfinished line that arrived last, if there is one."""
        lines = [output.open_line for output in self.outputs.values()]
        return next((line for line in reversed(lines) if line.strip()), "")


class Activity:
    """Follows the calls of a session, by their ids.

    `clock` gives seconds; `enter` is told of a call before lines about it are written.
    """

    def __init__(
        self, screen: Screen, clock: Callable[[], float], enter: Callable[[Call], None]
    ) -> None:
        self._screen = screen
        self._enter = enter
        self._clock = clock
        self._running: dict[str, _Running] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._ticks = 0
        self._awaited = ""
        self._since = 0.0
        self.spent: Callable[[], str] = str
        """What stands at the end of the foot."""

    @property
    def busy(self) -> bool:
        """Whether any call runs."""
        return bool(self._running)

    def waits_for(self, what: str) -> None:
        """Nothing runs, and the session waits for this; "" when it waits for nothing."""
        self._awaited, self._since = what, self._clock()
        if what and self._timer is None and self._screen.looks.cursor:
            self._tick()

    def started(self, call: Call) -> None:
        """A call was sent to its provider."""
        name = shown(call.operation.name, self._screen.looks.encoding)
        self._running[call.id] = _Running(call, name, self._number(name), self._clock())
        if self._timer is None:
            self._tick()

    def happened(self, call: Call, event: LeadUp) -> None:
        """Something came from a running call."""
        running = self._running.get(call.id)
        if running is None:
            return
        match event:
            case OutputChunk():
                if event.stream not in running.outputs:
                    running.outputs[event.stream] = LiveOutput(self._screen.looks.encoding)
                self._output(running, running.outputs[event.stream].feed(event.data))
            case Progress():
                self._progress(running, event)
            case PartialResult():
                running.partials += 1
            case ExitStatus():
                pass  # the result that follows says it, too
            case _:
                assert_never(event)
        self._draw_foot()

    def ended(self, call: Call, outcome: Outcome) -> None:
        """A call has its outcome, whether or not it was ever sent."""
        running = self._running.get(call.id)
        took = number = None
        if running:
            for output in running.outputs.values():
                self._output(running, output.finish())
            del self._running[call.id]
            took = duration(self._clock() - running.since)
            number = running.number if running.announced else None
        if not self._running and not (self._awaited and self._screen.looks.cursor):
            self.stop()
        looks = self._screen.looks
        self._write(call, ending(call, number, took or "", outcome, looks, self._screen.width))
        self._draw_foot()

    def broken_off(self) -> int:
        """The session has ended: so have the calls that still run. How many they were."""
        left = [running.call for running in self._running.values()]
        for call in left:
            self.ended(call, Failure(ErrorCategory.CANCELLED, ""))
        return len(left)

    def stop(self) -> None:
        """No longer follow anything; the foot goes."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._awaited = ""
        self._running.clear()
        self._screen.foot(None)

    def _number(self, name: str) -> str:
        """Empty for the only running call of its name, else the lowest number that is free."""
        taken = {running.number for running in self._running.values() if running.name == name}
        numbers = ["", *(f"#{number}" for number in range(2, len(taken) + 2))]
        return next(number for number in numbers if number not in taken)

    def _tick(self) -> None:
        self._ticks += 1
        for running in self._running.values():
            if self._clock() - running.since >= _ANNOUNCED_AFTER_S:
                self._announce(running)
        self._draw_foot()
        self._timer = asyncio.get_running_loop().call_later(_TICK_S, self._tick)

    def _announce(self, running: _Running) -> None:
        if not running.announced:
            running.announced = True
            looks, width = self._screen.looks, self._screen.width
            self._write(running.call, announcement(running.call, running.number, looks, width))

    def _output(self, running: _Running, lines: Sequence[str]) -> None:
        if not lines:
            return
        self._announce(running)
        margin = f"  {running.label} " if len(self._running) > 1 else "  "
        margin += self._screen.looks.glyphs.output + " "
        room = max(self._screen.width - len(margin), 8)
        folded = [piece for line in lines for piece in _folded(line.expandtabs(8), room)]
        self._enter(running.call)
        self._screen.behind(Text(margin, "faint"), folded)

    def _write(self, call: Call, lines: list[Text]) -> None:
        self._enter(call)
        self._screen.lines(lines)

    def _progress(self, running: _Running, progress: Progress) -> None:
        running.progress = progress
        now = self._clock()
        due = running.progress_told + _PROGRESS_EVERY_S
        if self._screen.looks.cursor or (running.progress_told and now < due):
            return
        running.progress_told = now
        self._output(running, [self._progress_words(progress)])

    def _progress_words(self, progress: Progress) -> str:
        message = live(progress.message, self._screen.looks.encoding).replace("\n", " ")
        if progress.fraction is None:
            return message
        return f"{progress.fraction:.0%} {message}".rstrip()

    def _draw_foot(self) -> None:
        now = self._clock()
        calls = [each for each in self._running.values() if now - each.since > _FOOT_AFTER_S]
        if calls:
            self._screen.foot(self._foot(self._call_parts(calls[0], now)))
        elif self._awaited and not self._running and now - self._since > _FOOT_AFTER_S:
            self._screen.foot(self._foot((self._awaited, duration(now - self._since))))
        else:
            self._screen.foot(None)

    def _call_parts(self, first: _Running, now: float) -> Sequence[str]:
        """The call that has run longest, how far it is, and how many there are beside it."""
        others = len(self._running) - 1
        return (
            first.label,
            duration(now - first.since),
            self._bar(first.progress) + self._progress_words(first.progress)
            if first.progress
            else "",
            counted(first.partials, "piece") if first.partials else "",
            f"and {counted(others, 'more call')}" if others else "",
            first.latest.strip(),
        )

    def _foot(self, parts: Sequence[str]) -> Text:
        """What goes on, and what is spent where both have room.

        Nothing fills the line up to its end: when the window is made narrower, a terminal
        that breaks lines anew then leaves a short foot whole, and it can be taken away.
        """
        glyphs, width = self._screen.looks.glyphs, self._screen.width - 1
        dot = f" {glyphs.dot} "
        words = dot.join(part for part in parts if part)
        left = Text(f"{glyphs.spinner[self._ticks % len(glyphs.spinner)]} {words}", "faint")
        spent = self.spent()
        right = dot + spent if spent else ""
        room = width - cell_len(right)
        if room < _NARROWEST_LEFT:
            right, room = "", width
        if left.cell_len > room:
            left.truncate(room - len(glyphs.ellipsis))
            left.append(glyphs.ellipsis)
        return left.append(right)

    def _bar(self, progress: Progress) -> str:
        if progress.fraction is None:
            return ""
        glyphs = self._screen.looks.glyphs
        filled = round(min(max(progress.fraction, 0.0), 1.0) * _BAR_CELLS)
        return glyphs.filled * filled + glyphs.empty * (_BAR_CELLS - filled) + " "


def _folded(line: str, room: int) -> list[str]:
    if line.isascii():
        return [line[at : at + room] for at in range(0, len(line), room)] or [""]
    return [piece.plain for piece in fold(Text(line), room)]
