"""A frontend whose answers never decide: a program may give them for ever, and is not let."""

import asyncio
from dataclasses import replace

import pytest
from unit.turn.doubles import CONTEXT, FakeFrontend, calls, operation, ports

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.turn import run_turn

SCOPE = Scope("every edit", "", 'policy "granted" {}')
FITS, UNFIT = {"x": "new"}, {"x": 1}


class NothingIsKept:
    """Grants of which none can be written."""

    count = 0

    def scopes(self, call: Call) -> tuple[Scope, ...]:
        return (SCOPE,)

    def add(self, call: Call, scope: Scope, lasting: Lasting) -> None:
        raise GrantNotKept("the file cannot be written")

    async def beyond(self, count: int) -> None:
        await asyncio.Event().wait()


@pytest.mark.req("K10")
@pytest.mark.parametrize("kind", [Kind.RESOURCE, Kind.DATA_SOURCE])
@pytest.mark.parametrize(
    "answer",
    [
        Answer(True, arguments=FITS),
        Answer(True, arguments=UNFIT),
        Answer(True, lasting=Lasting.ALWAYS, scope=SCOPE),
    ],
)
async def test_a_call_whose_answers_never_decide_is_denied_in_the_end(
    kind: Kind, answer: Answer
) -> None:
    asked: list[PlanItem] = []

    def again(item: PlanItem, changed: str) -> Answer:
        asked.append(item)
        return answer

    work = operation("work", kind)
    given, providers, *_ = ports(
        calls("work", arguments={"x": "old"}),
        frontend=FakeFrontend(again),
        decide=lambda call: Verdict(Decision.ASK, "test"),
    )
    if answer.arguments is None:
        given = replace(given, grants=NothingIsKept())
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, (work,))
    (result,) = history[-1].blocks
    assert isinstance(result, ToolResult) and isinstance(result.outcome, Failure)
    assert result.outcome.category is ErrorCategory.PERMISSION_DENIED
    assert result.outcome.message.startswith("Denied by the limit of 100 answers: none of them")
    assert len(asked) == 100
    assert providers.trace == []
