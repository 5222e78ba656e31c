"""A message that its vendor cut: everyone is told, and nothing half written runs."""

from dataclasses import replace
from typing import Any

import pytest
from unit.turn.doubles import CONTEXT, ListModel, operation, ports, says

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.message import Cut, Message, ModelReply, Role, ToolResult
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.outcome import Failure, Success
from pluggableharness.kernel.turn.turn import run_turn


@pytest.mark.req("K36", "K33")
@pytest.mark.parametrize("cut", list(Cut))
async def test_a_message_that_was_cut_is_told_and_its_last_call_is_refused_as_cut(cut: Cut) -> None:
    broken = ProposedCall("b", "toy.read", '{"x": "ha')
    said = Message(Role.ASSISTANT, (ProposedCall("a", "toy.read", {}), broken))

    class Cutting(ListModel):
        async def reply(self, *given: Any) -> ModelReply:
            reply = await super().reply(*given)
            return ModelReply(reply.message, cut=cut)

    bound, _, record, frontend = ports(said)
    history: list[Message] = []
    model = Cutting([said, says("so far")])
    bound = replace(bound, model=model)
    await run_turn(bound, CONTEXT, history, (operation("read"),))
    first, last = (block for block in history[-1].blocks if isinstance(block, ToolResult))
    assert isinstance(first.outcome, Success)
    assert isinstance(last.outcome, Failure)
    assert cut.value in last.outcome.message
    end = await run_turn(bound, CONTEXT, history, (operation("read"),))
    assert end.cut is cut
    told = [news.message for news in frontend.heard if isinstance(news, Notice)]
    filed = [notice for kind, notice in record.filed if kind == "notice"]
    assert told == [f"list: {cut.value}"] * 2
    assert len(filed) == 2
