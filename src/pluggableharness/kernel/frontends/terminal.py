"""The terminal: a session as a person likes to watch it, and their answers (K32). Uses rich.

Draws what it hears and asks what it is asked to; decides nothing. What it draws only ever
adds lines, so that it reads the same in a dumb terminal, in a log and in the scroll-back.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TextIO, assert_never

from rich.text import Text

from pluggableharness.kernel.domain.bounds import Bounds, Spent
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallEvent,
    CallRefused,
    CallStarted,
    FromChild,
    ItemDecided,
    MessageArrived,
    News,
    Notice,
    PlanApplied,
    PlanReady,
    SessionEnded,
    SessionStarted,
    TextDelta,
)
from pluggableharness.kernel.domain.plan import Answer, Plan, PlanItem
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.frontends.activity import Activity
from pluggableharness.kernel.frontends.child_lines import child_lines
from pluggableharness.kernel.frontends.dialogue import Dialogue
from pluggableharness.kernel.frontends.editing import Editing
from pluggableharness.kernel.frontends.endings import refusal
from pluggableharness.kernel.frontends.floor import Floor
from pluggableharness.kernel.frontends.interview import Interview
from pluggableharness.kernel.frontends.keys import Keys
from pluggableharness.kernel.frontends.lines import WordWrap, columns, fold
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.meter import spent_words
from pluggableharness.kernel.frontends.outlet import Outlet
from pluggableharness.kernel.frontends.plan_lines import allowed_lines, overview_lines
from pluggableharness.kernel.frontends.prose import Prose
from pluggableharness.kernel.frontends.question import Question
from pluggableharness.kernel.frontends.screen import Screen
from pluggableharness.kernel.frontends.text import live, shown
from pluggableharness.kernel.frontends.words import counted, duration

_SCRIPT = "script"
"""The name of a model that says no more than is written, so that few want to go on with it."""

_LEVELS = {"warning": "warning", "error": "error"}

_COMES_BACK_S = 10.0
_BEGINS_S = 2.0
"""How long an edited call may take to be asked about again, and an allowed one to its first line,
before the next question is asked all the same."""


class Terminal:
    """Hears a session's news and asks the person at the terminal.

    Attended when `keys` are and when there is a terminal to see the question on; keys that
    were told to take a pipe need none. Two questions are asked one after another, and what
    happens meanwhile is drawn after the answer. In a `conversation` a session begins and ends
    with each prompt: its id and its record are then said once. Call `close` in the end,
    however it comes.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        keys: Keys | None = None,
        *,
        looks: Looks | None = None,
        clock: Callable[[], float] = time.monotonic,
        conversation: bool = False,
    ) -> None:
        self._outlet = Outlet(out or sys.stdout)
        self._keys = keys or Keys()
        self._screen = Screen(self._outlet, looks)
        self._dialogue = Dialogue(self._screen, self._keys)
        # Libraries add to it what is none of an editor's business.
        self._environ = dict(os.environ)
        self._activity = Activity(self._screen, clock, self._enter_call)
        self._clock = clock
        self._began = clock()
        self._conversation = conversation
        self._session_id = ""
        self._head = ""
        self._model = ""
        self._spent = Spent()
        self._pending = 0
        self._quiet = ExitStack()
        self._floor = Floor()
        self._prose = Prose(self._screen)
        self._section = ""
        self._places: dict[str, str] = {}
        self._drafts: dict[str, str] = {}
        self._denied_here: set[str] = set()
        self._calls = 0

    @property
    def attended(self) -> bool:
        """Whether a person can answer."""
        seen = self._outlet.is_terminal or not self._keys.is_terminal
        return seen and not self._outlet.lost and self._keys.attended

    def follow(self, meter: Callable[[], tuple[Bounds, Spent]]) -> None:
        """Say in the foot what the session has spent, and of how much."""
        dot = f" {self._screen.looks.glyphs.dot} "
        self._activity.spent = lambda: dot.join(spent_words(*meter()))

    async def hear(self, news: News) -> None:
        """Draw a piece of news; waits while a question is open and much has piled up (P14)."""
        await self._screen.room()
        match news:
            case TextDelta():
                self._enter("text")
                self._prose.feed(news.turn_id, news.text)
            case MessageArrived():
                self._message(news)
            case CallStarted():
                self._activity.started(news.call)
            case CallEvent():
                self._activity.happened(news.call, news.event)
            case CallEnded():
                self._ended(news)
            case CallRefused():
                self._settled()
                self._enter("calls")
                looks, width = self._screen.looks, self._screen.width
                self._screen.lines(refusal(news.refused, looks, width))
            case PlanReady():
                self._plan(news.plan)
            case ItemDecided():
                pass  # the plan, the person's own answer or the call's end shows it
            case PlanApplied():
                self._places.clear()
            case Notice():
                self._enter("notice")
                self._lines(_LEVELS.get(news.level, ""), news.message)
            case SessionStarted():
                self._begin(news)
            case SessionEnded():
                self._end(news)
            case FromChild():
                self._child(news)
            case _:
                assert_never(news)
        await self._outlet.room()

    @property
    def looks(self) -> Looks:
        """What the terminal can do."""
        return self._screen.looks

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """For the length of a block let a prompt stand below a blank line: what is drawn waits."""
        self._enter("prompt", apart=True)
        self._screen.hold()
        try:
            yield
        finally:
            self._screen.release()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """For the length of a block let a question stand alone. What is drawn meanwhile comes
        below it under a heading: its answer has not led to that."""
        self._enter("question", apart=True)
        self._screen.hold()
        self._section = ""
        try:
            yield
        finally:
            held = self._screen.release((Text(), Text("meanwhile", "faint")))
            self._section = "meanwhile" if held else "question"

    def say(self, text: str, style: str = "") -> None:
        """Write lines that belong to nothing that is going on."""
        self._enter("said")
        self._lines(style, text)

    def table(self, rows: Sequence[Sequence[str]], style: str = "") -> None:
        """Write rows of cells in aligned columns, the first column in a style."""
        self._enter("said")
        encoding = self._screen.looks.encoding
        texts = [
            [Text(shown(cell, encoding) if cell else "", "" if at else style)
             for at, cell in enumerate(row)]
            for row in rows
        ]  # fmt: skip
        drawn = columns(texts, self._screen.width - 2, words=True)
        self._screen.lines([Text.assemble("  ", line) for line in drawn])

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Ask the person about an item; None when nobody is there (K10)."""
        async with self._floor.taken(item.call.id):
            if not self.attended:
                return None
            draft = self._drafts.pop(item.id, "")
            editing = Editing(self._dialogue, item.call, self._environ, draft)
            where = self._places.get(item.id, "")
            question = Question(self._dialogue, item, changed, where, editing)
            with self._alone():
                answer = await question.ask()
            if answer.arguments is not None:
                self._drafts[item.id] = editing.draft
                self._floor.keep(item.call.id, _COMES_BACK_S)
            elif not answer.allow:
                self._denied_here.add(item.call.id)
            elif not self._activity.busy:
                # Beside one that runs it may have to wait for its turn.
                self._floor.keep(item.call.id, _BEGINS_S)
        return answer

    async def answer(self, call: Call) -> JsonObject | None:
        """Put an interactive call to the person; None when nobody answers (C21)."""
        async with self._floor.taken(call.id):
            if not self.attended:
                return None
            with self._alone():
                return await Interview(self._dialogue, call).ask()

    def close(self) -> None:
        """Leave the terminal tidy: no foot, no open line, no timer; say where the record is."""
        self._tidy()
        self._outlet.flush()

    def _tidy(self) -> None:
        self._activity.stop()
        self._prose.finish()
        self._quiet.close()
        self.leave()

    def leave(self) -> None:
        """Say where the record of the session is, once, when it is left.

        Commands stand on one line each, however long, so that they can be copied.
        """
        if self._head:
            encoding = self._screen.looks.encoding
            session, head = shown(self._session_id, encoding), shown(self._head, encoding)
            lines = [f"record {session}", f"verify harness sessions verify {session} --head {head}"]
            if self._model != _SCRIPT:
                lines.append(f"go on  harness run --resume {session}")
            self._screen.lines([Text(line, "faint") for line in lines])
            self._head = ""

    def _enter(self, section: str, *, apart: bool = False) -> None:
        """Leave a blank line between what belongs to different things."""
        if section != "text":
            self._prose.finish()
        if self._section and (apart or section != self._section):
            self._screen.lines([Text()])
        self._section = section

    def _enter_call(self, call: Call) -> None:
        self._floor.over(call.id)
        self._enter("calls")

    def _lines(self, style: str, text: str) -> None:
        """Write somebody's text; no line of it begins as a line of ours."""
        wrap = WordWrap(self._screen.looks.glyphs.ours)
        for line in live(text, self._screen.looks.encoding).split("\n"):
            drawn = wrap.feed(line.expandtabs(8), self._screen.width, style)
            self._screen.lines([drawn.append_text(wrap.finish(self._screen.width))])

    def _begin(self, news: SessionStarted) -> None:
        known, self._session_id = self._session_id == news.session_id, news.session_id
        self._model = shown(news.model, self._screen.looks.encoding)
        self._began, self._calls, self._spent = self._clock(), 0, Spent()
        self._denied_here.clear()
        self._activity.waits_for(self._model)
        self._quiet.enter_context(self._keys.quiet())
        if known and self._conversation:
            return
        encoding = self._screen.looks.encoding
        dot = f" {self._screen.looks.glyphs.dot} "
        parts = ("session " + news.session_id, news.model, news.working_directory)
        words = dot.join(shown(part, encoding) for part in parts if part)
        self._enter("session")
        self._screen.lines(fold(Text(words, "faint"), self._screen.width))

    def _child(self, news: FromChild) -> None:
        """A line for each thing that a child session did: several at once would not be read."""
        match news.news:
            case MessageArrived():
                self._add_spent(news.news)
            case CallEnded():
                self._floor.over(news.news.call.id)
            case _:
                pass
        width = self._screen.width
        lines = child_lines(news, self._screen.looks, width)
        if lines:
            self._enter("calls")
            self._screen.lines([piece for line in lines for piece in fold(line, width)])

    def _message(self, news: MessageArrived) -> None:
        """The end of a message; its text only if it did not stream."""
        message = news.message
        if message.text and self._prose.turn_id != news.turn_id:
            self._enter("text")
            self._prose.feed(news.turn_id, message.text)
        self._prose.finish()
        self._add_spent(news)
        self._pending = len(message.calls)
        if self._pending:
            self._activity.waits_for("preparing " + counted(self._pending, "call"))

    def _add_spent(self, news: MessageArrived) -> None:
        spent = self._spent
        self._spent = replace(
            spent, cost_usd=spent.cost_usd + news.cost_usd, usage=spent.usage + news.usage
        )

    def _settled(self) -> None:
        """One more call of the message has its result; after the last the model is asked."""
        self._calls += 1
        self._pending -= 1
        if self._pending <= 0 and self._session_id:
            self._activity.waits_for(self._model)

    def _ended(self, news: CallEnded) -> None:
        self._settled()
        if news.call.id in self._denied_here:
            return  # the person has just said so, on the line above
        self._activity.ended(news.call, news.outcome)

    def _plan(self, plan: Plan) -> None:
        """Several items at a glance, when any will be asked; and what runs without being asked."""
        looks, width, count = self._screen.looks, self._screen.width, len(plan.items)
        if count > 1:
            for number, item in enumerate(plan.items, 1):
                self._places[item.id] = f"{number} of {count}"
            if any(item.verdict.decision is Decision.ASK for item in plan.items):
                self._enter("plan")
                self._screen.lines(overview_lines(plan, looks, width))
        for item in plan.items:
            if item.verdict.decision is Decision.ALLOW and item.preview is not None:
                self._enter("plan", apart=True)
                place = self._places.get(item.id, "")
                self._screen.lines(allowed_lines(item, place, looks, width))

    def _end(self, news: SessionEnded) -> None:
        # Of an interrupted message also what was never begun has a result, which nobody tells.
        self._calls += max(self._activity.broken_off(), self._pending)
        self._pending = 0
        self._floor.over()
        self._activity.stop()
        self._prose.finish()
        self._quiet.close()
        end = news.end
        if end.final_text and end.final_text.strip() != self._prose.said.strip():
            self._enter("text")
            self._lines("", end.final_text)
        self._enter("session")
        good = end.status is SessionStatus.COMPLETED
        words = Text.assemble((end.status.value.replace("_", " "), "success" if good else "error"))
        took = duration(self._clock() - self._began)
        spent = spent_words(Bounds(), self._spent)
        for part in (counted(self._calls, "call"), took, *spent):
            words.append(f" {self._screen.looks.glyphs.dot} {part}", "faint")
        self._screen.lines([words])
        if end.reason:
            self._lines("", end.reason)
        self._session_id, self._head = end.session_id, news.log_head
        if not self._conversation:
            self._tidy()
