"""One frontend with several sessions attached asks its person one thing at a time (P24)."""

import asyncio

import pytest
from unit.frontends.fakes import BASH, TEXT, call, item, operation
from unit.frontends.watching import BOUND_S, Watched, watched

from pluggableharness.kernel.domain.operation import Kind, Schema, SchemaType
from pluggableharness.kernel.domain.plan import Answer

ANSWER = Schema(SchemaType.OBJECT, properties={"answer": TEXT}, required=("answer",))
ASK = operation("user.ask_user", "question", kind=Kind.INTERACTIVE, output=ANSWER)


async def shows(terminal: Watched, text: str) -> None:
    await terminal.until(lambda: any(text in line for line in terminal.screen))


@pytest.mark.req("P24")
async def test_a_second_sessions_question_waits_for_the_first_answer() -> None:
    with watched() as terminal:
        ask = terminal.frontend.answer
        first = asyncio.ensure_future(ask(call(ASK, "c1", question="the first?")))
        second = asyncio.ensure_future(ask(call(ASK, "c2", question="the second?")))
        third = asyncio.ensure_future(terminal.frontend.decide(item(call(BASH, command="ls")), ""))
        await shows(terminal, "the first?")
        terminal.type("one\n")
        async with asyncio.timeout(BOUND_S):
            assert await first == {"answer": "one"}
        await shows(terminal, "the second?")
        # Not even the question of an approval came between.
        assert not second.done() and not any("exec.bash" in line for line in terminal.screen)
        terminal.type("two\n")
        async with asyncio.timeout(BOUND_S):
            assert await second == {"answer": "two"}
        await shows(terminal, "exec.bash")
        terminal.type("a\n")
        async with asyncio.timeout(BOUND_S):
            assert await third == Answer(allow=True)
        order = [line for line in terminal.screen if "┌" in line]
        assert [line.split()[-1] for line in order] == [
            "user.ask_user",
            "user.ask_user",
            "exec.bash",
        ]
