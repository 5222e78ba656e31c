"""One frontend for a tree of sessions (K10, K22, P24)."""

import asyncio
from dataclasses import replace

import pytest
from family import Watching
from unit.turn.doubles import CONTEXT, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import FromChild, Notice
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.session.relay import OneByOne, Relay
from pluggableharness.kernel.turn.ports import Frontend

QUESTION = Call("call", operation("ask", Kind.INTERACTIVE), {}, CONTEXT)


class Pondering(Watching):
    """Takes a turn of the loop for each answer, and counts how many it is asked at once."""

    open = 0
    most = 0

    async def answer(self, call: Call) -> JsonObject | None:
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(0)
        self.open -= 1
        return await super().answer(call)


@pytest.mark.req("P24")
async def test_interactive_calls_of_a_shared_frontend_come_one_at_a_time() -> None:
    person, turn = Pondering(), asyncio.Lock()
    sessions: list[Frontend] = [
        OneByOne(person, turn),
        Relay(OneByOne(person, turn), "child", "tester"),
    ]
    answers = await asyncio.gather(*(one.answer(QUESTION) for one in sessions * 3))
    assert person.most == 1
    assert answers == [{"answer": ""}, {"answer": "tester"}] * 3


@pytest.mark.req("K14", "P24")
async def test_the_deadline_of_a_question_counts_once_it_is_put_and_ends_it() -> None:
    class Silent(Watching):
        taken_back = False

        async def answer(self, call: Call) -> JsonObject | None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.taken_back = True
                raise
            raise AssertionError

    person, turn = Silent(attended=True), asyncio.Lock()
    limited = OneByOne(person, turn)
    async with turn:
        waiting = asyncio.create_task(limited.answer(replace(QUESTION, deadline_s=1e-9)))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done(), "another question is before it"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(waiting, 30)
    assert person.taken_back
    assert not turn.locked(), "the next question can come"


@pytest.mark.req("K10")
async def test_a_question_and_news_carry_the_path_from_the_root_down() -> None:
    person = Watching(attended=True)
    below = Relay(Relay(OneByOne(person, asyncio.Lock()), "first", "lead"), "second", "tester")
    assert below.attended
    item = PlanItem("item", QUESTION, None, Verdict(Decision.ASK, "test"))
    await below.decide(item, "")
    await below.hear(Notice("info", "hello"))
    assert person.asked[0].call.context.path == ("lead", "tester")
    assert person.heard == [FromChild("second", ("lead", "tester"), Notice("info", "hello"))]


class Answering(Watching):
    """Holds every question until the test answers it, in whatever order."""

    def __init__(self) -> None:
        super().__init__(attended=True)
        self.waiting: dict[str, asyncio.Future[Answer]] = {}

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.waiting[item.id] = future
        return await future


@pytest.mark.req("K10")
async def test_each_answer_goes_to_the_question_that_it_is_for() -> None:
    """Case agent-user-task-05: two children ask, and are answered in reverse order."""
    person = Answering()
    verdict = Verdict(Decision.ASK, "test")
    asked = [
        asyncio.create_task(
            Relay(person, name, name).decide(PlanItem(name, QUESTION, None, verdict), "")
        )
        for name in ("first", "second")
    ]
    while len(person.waiting) < 2:
        await asyncio.sleep(0)
    person.waiting["second"].set_result(Answer(allow=True))
    person.waiting["first"].set_result(Answer(allow=False, reason="no"))
    assert [await one for one in asked] == [Answer(allow=False, reason="no"), Answer(allow=True)]
