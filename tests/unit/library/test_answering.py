"""Plans answered from code: plain functions, and answers that cannot be followed (K34)."""

import asyncio
from collections.abc import Callable

import pytest
from unit.turn.doubles import CONTEXT, FakeProviders, ask_resources, calls, operation, ports

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.news import News, PlanReady
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.session.relay import Relay
from pluggableharness.kernel.turn.turn import run_turn
from pluggableharness.library.answering import Answering, answering

OFFERED = (
    operation("write", Kind.RESOURCE),
    operation("ask", Kind.INTERACTIVE),
    operation("read"),
)


async def outcome_of(
    frontend: Answering | Relay,
    name: str = "write",
    arguments: JsonObject | None = None,
    decide: Callable[[Call], Verdict] = ask_resources,
) -> Outcome:
    bound, *_ = ports(
        calls(name, arguments=arguments),
        providers=FakeProviders(lambda call: done(call)),
        frontend=frontend,  # type: ignore[arg-type]
        decide=decide,
    )
    history: list[Message] = []
    await run_turn(bound, CONTEXT, history, OFFERED)
    (result,) = history[-1].blocks
    assert isinstance(result, ToolResult)
    return result.outcome


async def done(call: Call) -> Outcome:
    return Success({"with": call.arguments})


@pytest.mark.req("K34", "K10")
async def test_a_function_answers_and_its_reason_reaches_the_model() -> None:
    assert await outcome_of(answering(lambda item: Answer(True))) == Success({"with": {}})
    denied = await outcome_of(answering(lambda item: Answer(False, "never on Mondays")))
    assert isinstance(denied, Failure)
    assert "never on Mondays" in denied.message


@pytest.mark.req("K34")
async def test_a_coroutine_function_answers_as_well() -> None:
    async def decide(item: PlanItem) -> Answer:
        return Answer(True)

    assert isinstance(await outcome_of(answering(decide)), Success)


@pytest.mark.req("K34", "K10")
async def test_without_a_function_what_is_asked_is_denied() -> None:
    denied = await outcome_of(answering())
    assert isinstance(denied, Failure)
    assert denied.category is ErrorCategory.PERMISSION_DENIED
    assert not answering().attended


@pytest.mark.req("K34", "K10")
async def test_an_edit_is_shown_again_and_runs_when_it_is_answered_the_same_way() -> None:
    seen: list[JsonObject] = []

    def decide(item: PlanItem) -> Answer:
        seen.append(item.call.arguments)
        return Answer(True, arguments={"x": "edited"})

    outcome = await outcome_of(answering(decide), arguments={"x": "as written"})
    assert outcome == Success({"with": {"x": "edited"}})
    assert seen == [{"x": "as written"}, {"x": "edited"}]


@pytest.mark.req("K34", "K10")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(True, arguments={"y": 1}), "not taken over"),
        (Answer(True, lasting=Lasting.ALWAYS), "only be allowed once"),
    ],
    ids=["edit", "scope"],
)
async def test_an_answer_that_cannot_be_followed_is_a_denial_and_no_endless_question(
    answer: Answer, why: str
) -> None:
    outcome = await outcome_of(answering(lambda item: answer))
    assert isinstance(outcome, Failure)
    assert outcome.category is ErrorCategory.PERMISSION_DENIED
    assert why in outcome.message


Answers = Callable[[int, JsonObject], Answer]
"""From how often an item was asked about, from 1, and its arguments, to an answer."""

_NEW_EACH_TIME: dict[str, Answers] = {
    "valid": lambda count, given: Answer(True, arguments={"x": f"{given['x']}+"}),
    "invalid": lambda count, given: Answer(True, arguments={"x": count}),
    "no JSON": lambda count, given: Answer(True, arguments={"x": object()}),  # type: ignore[dict-item]
    "no object": lambda count, given: Answer(True, arguments=[count]),  # type: ignore[arg-type]
    "scope": lambda count, given: Answer(True, f"{count}", lasting=Lasting.ALWAYS),
}


@pytest.mark.req("K34", "K10")
@pytest.mark.parametrize("answer", _NEW_EACH_TIME.values(), ids=_NEW_EACH_TIME)
async def test_answers_that_bring_a_call_back_without_end_become_a_denial(answer: Answers) -> None:
    asked: list[PlanItem] = []

    def decide(item: PlanItem) -> Answer:
        asked.append(item)
        return answer(len(asked), item.call.arguments)

    outcome = await asyncio.wait_for(
        outcome_of(answering(decide), arguments={"x": "as written"}), timeout=20
    )
    assert isinstance(outcome, Failure)
    assert outcome.category is ErrorCategory.PERMISSION_DENIED
    assert "brought the call back 3 times" in outcome.message
    assert len(asked) == 4


@pytest.mark.req("K34", "K10")
async def test_a_few_edits_that_end_in_a_plain_yes_run_as_edited() -> None:
    asked: list[PlanItem] = []

    def decide(item: PlanItem) -> Answer:
        asked.append(item)
        return Answer(True, arguments=None if len(asked) == 4 else {"x": f"edit {len(asked)}"})

    outcome = await outcome_of(answering(decide), arguments={"x": "as written"})
    assert outcome == Success({"with": {"x": "edit 3"}})


@pytest.mark.req("K34", "K10")
@pytest.mark.parametrize("answer", [None, True, "yes"])
async def test_what_is_no_answer_is_a_denial_that_says_so(answer: object) -> None:
    outcome = await outcome_of(answering(lambda item: answer))  # type: ignore[arg-type,return-value]
    assert isinstance(outcome, Failure)
    assert outcome.category is ErrorCategory.PERMISSION_DENIED
    assert f"returned a {type(answer).__name__}" in outcome.message


@pytest.mark.req("K34", "K10")
async def test_a_function_whose_own_waiting_was_cancelled_denies_and_the_turn_goes_on() -> None:
    async def decide(item: PlanItem) -> Answer:
        gone = asyncio.get_running_loop().create_future()
        gone.cancel()
        await gone
        raise AssertionError

    outcome = await outcome_of(answering(decide))
    assert isinstance(outcome, Failure)
    assert "its decide function was cancelled" in outcome.message


@pytest.mark.req("K34")
@pytest.mark.parametrize("name", ["read", "write"])
@pytest.mark.parametrize("of_child", [False, True])
async def test_reads_and_writes_of_children_are_answered_too_and_nothing_is_kept_of_them(
    name: str, of_child: bool
) -> None:
    frontend = answering(lambda item: Answer(True))
    seen = Relay(frontend, "child", "tester") if of_child else frontend
    asked = Verdict(Decision.ASK, "rule r")
    assert isinstance(await outcome_of(seen, name, decide=lambda call: asked), Success)
    assert frontend._open == {}


@pytest.mark.req("K34")
async def test_news_and_interactive_calls_reach_their_functions() -> None:
    heard: list[News] = []
    frontend = answering(
        lambda item: Answer(True), hear=heard.append, answer=lambda call: {"text": "blue"}
    )
    assert await outcome_of(frontend, "ask") == Success({"text": "blue"})
    await outcome_of(frontend)
    assert any(isinstance(news, PlanReady) for news in heard)
    assert isinstance(await outcome_of(answering(lambda item: Answer(True)), "ask"), Failure)
