"""A frontend from plain functions: answers plans from code, and passes news on (K34)."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeVar

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import is_cancelled
from pluggableharness.kernel.domain.news import CallEnded, FromChild, ItemDecided, News
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem
from pluggableharness.kernel.domain.values import JsonObject

T = TypeVar("T")

_MOST_UNFOLLOWED: Final = 3
"""Answers of a function that may bring one item back to it."""

Decide = Callable[[PlanItem], Answer | Awaitable[Answer]]
"""From a plan item to what is answered; it may be a coroutine function."""

Hear = Callable[[News], Awaitable[None] | None]
"""Takes a piece of news; it may be a coroutine function, and slows what runs while it runs."""

AnswerCall = Callable[[Call], JsonObject | Awaitable[JsonObject | None] | None]
"""From an interactive call to its answer, shaped like its output schema; None for none."""


class Answering:
    """The Frontend of a program: made by `answering`."""

    def __init__(self, decide: Decide | None, hear: Hear | None, answer: AnswerCall | None) -> None:
        self._decide = decide
        self._hear = hear
        self._answer = answer
        self._open: dict[str, list[tuple[PlanItem, Answer]]] = {}

    @property
    def attended(self) -> bool:
        """Whether there is a function that answers."""
        return self._decide is not None or self._answer is not None

    async def hear(self, news: News) -> None:
        """Pass a piece of news on."""
        match news.news if isinstance(news, FromChild) else news:
            case ItemDecided(item=item):
                self._open.pop(item.id, None)
            case CallEnded(call=call):
                self._open.pop(call.id, None)
        if self._hear is not None:
            await _result(self._hear(news))

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """What the function answers; None, which denies, without one.

        An item comes back when an answer was an edit or could not be followed. A function that
        then says the same again, or something else each time, would be asked for ever: that is
        a denial that says why, as is what is no answer at all.
        """
        if self._decide is None:
            return None
        answer = await _answer_of(self._decide, item)
        if answer.arguments == item.call.arguments:
            answer = replace(answer, arguments=None)
        before = self._open.setdefault(item.id, [])
        if changed and before and before[-1] == (item, answer):
            return Answer(False, f"the program's answer could not be followed: {changed}")
        if len(before) >= _MOST_UNFOLLOWED and _comes_back(answer):
            return Answer(
                False,
                f"the program's answer brought the call back {len(before)} times, and it may "
                f"not go on so; the last time: {changed}",
            )
        before.append((item, answer))
        return answer

    async def answer(self, call: Call) -> JsonObject | None:
        """What the function answers to an interactive call; None without one."""
        return None if self._answer is None else await _result(self._answer(call))


def answering(
    decide: Decide | None = None,
    *,
    hear: Hear | None = None,
    answer: AnswerCall | None = None,
) -> Answering:
    """A frontend that answers by functions, each of them plain or a coroutine function.

    `decide` answers what policy asks, item by item and several at once where they wait
    together; without it, what would be asked is denied. `hear` takes the news of the session,
    and `answer` the interactive calls.
    """
    return Answering(decide, hear, answer)


async def _answer_of(decide: Decide, item: PlanItem) -> Answer:
    """What the function answers; a denial that says so when that is no answer."""
    try:
        answer: object = await _result(decide(item))
    except asyncio.CancelledError:
        if is_cancelled():
            raise
        # Nobody wants the session to end: what the function waited for was cancelled.
        return Answer(False, "the program gave no answer: its decide function was cancelled")
    if isinstance(answer, Answer):
        return answer
    return Answer(
        False,
        f"the program gave no answer: its decide function returned a {type(answer).__name__}, "
        "and only an Answer is one, such as Answer(True)",
    )


def _comes_back(answer: Answer) -> bool:
    """Whether an answer may not settle its item: an edit is shown again, a grant may fail."""
    lasting = answer.allow and answer.lasting is not Lasting.ONCE
    return answer.arguments is not None or lasting


async def _result(value: T | Awaitable[T]) -> T:
    return await value if inspect.isawaitable(value) else value
