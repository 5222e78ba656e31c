"""A session as a Markdown page: for an issue, a review, or the archive (K30)."""

import re
from typing import TextIO

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.message import Message
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallRefused,
    ItemDecided,
    MessageArrived,
    News,
    Notice,
    SessionEnded,
    SessionStarted,
)
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.json_values import pretty
from pluggableharness.kernel.frontends.payloads import as_lines, main_field
from pluggableharness.kernel.frontends.text import live, shown
from pluggableharness.kernel.frontends.words import facts

_MOST = 4000
_FENCE = re.compile("`+")


class MarkdownPage:
    """Writes what it hears of a session; every call stands where it ended, with its result.

    Results longer than 4,000 characters lose the rest and say so: all of it is in the record.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._said = ""
        self._session_id = ""
        self._with_model = ""
        self._prompts = 0
        self._decided: dict[str, str] = {}

    async def hear(self, news: News) -> None:
        """Write a piece of news."""
        match news:
            case SessionStarted():
                self._begin(news)
            case MessageArrived():
                self._message(news.message)
            case ItemDecided():
                words = f"{news.verdict.decision.value}: {shown(news.verdict.decided_by)}"
                self._decided[news.item.call.id] = words
            case CallRefused():
                self._write(f"**{_code(news.refused.name)}** was refused")
                self._failure(news.refused.failure)
            case CallEnded():
                self._call(news.call, news.outcome)
            case Notice():
                self._write(f"*{live(news.message)}*")
            case SessionEnded():
                self._end(news)
            case _:
                pass

    async def prompted(self, text: str) -> None:
        """Write what a person asked for."""
        self._prompts += 1
        self._write(f"## Prompt {self._prompts}")
        self._write("> " + live(text).replace("\n", "\n> "))

    def _begin(self, news: SessionStarted) -> None:
        """The heading once; a conversation's session starts again with each prompt."""
        if news.session_id != self._session_id:
            self._session_id = news.session_id
            self._write(f"# Session {shown(news.session_id)}")
        with_model = f"Model {_code(news.model)} in {_code(news.working_directory)}."
        if with_model != self._with_model:
            self._with_model = with_model
            self._write(with_model)

    def _message(self, message: Message) -> None:
        self._said = message.text.strip()
        if self._said:
            self._write(live(self._said))

    def _call(self, call: Call, outcome: Outcome) -> None:
        decided = self._decided.pop(call.id, "")
        self._write(f"**{_code(call.operation.full_name)}**" + (f" ({decided})" if decided else ""))
        if call.arguments:
            self._write(_fenced(pretty(call.arguments), "json"))
        if isinstance(outcome, Success):
            self._result(outcome.payload)
        else:
            self._failure(outcome)

    def _result(self, payload: JsonObject) -> None:
        main = main_field(payload)
        if main is None:
            self._write(_fenced(pretty(payload), "json"))
            return
        said = ", ".join(facts(payload))
        if said:
            self._write(said)
        self._write(_fenced(as_lines(payload[main])))

    def _failure(self, failure: Failure) -> None:
        self._write(f"{failure.category.value}:")
        self._write(_fenced(failure.message))

    def _end(self, news: SessionEnded) -> None:
        end = news.end
        if end.final_text.strip() and end.final_text.strip() != self._said:
            self._write(live(end.final_text))
        reason = f": {live(end.reason)}" if end.reason else ""
        self._write(f"---\n\n{end.status.value.replace('_', ' ')}{reason}")
        if news.log_head:
            self._write(f"Head of the record: {_code(news.log_head)}")

    def _write(self, paragraph: str) -> None:
        self._out.write(paragraph + "\n\n")


def _code(text: str) -> str:
    return f"`{shown(text).replace('`', chr(39))}`"


def _fenced(text: str, language: str = "") -> str:
    """A block behind a fence that nothing within it can end."""
    safe = live(text).rstrip("\n")
    if len(safe) > _MOST:
        safe = f"{safe[:_MOST]}\n[{len(safe) - _MOST:,} characters more are in the record]"
    longest = max((len(run) for run in _FENCE.findall(safe)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{safe}\n{fence}"
