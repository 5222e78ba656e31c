"""One frontend for a tree of sessions (K10, K22, P24)."""

import asyncio

import pytest
from family import Watching
from unit.turn.doubles import CONTEXT, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import FromChild, Notice
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.plan import PlanItem
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
    sessions: list[Frontend] = [OneByOne(person, turn), Relay(OneByOne(person, turn), "child", "tester")]
    answers = await asyncio.gather(*(one.answer(QUESTION) for one in sessions * 3))
    assert person.most == 1
    assert answers == [{"answer": ""}, {"answer": "tester"}] * 3


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
