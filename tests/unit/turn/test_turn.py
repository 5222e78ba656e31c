"""A turn: the steps in their order, one result for each call, and nothing beside the gate."""

import asyncio
from dataclasses import replace

import pytest
from unit.turn.doubles import (
    CONTEXT,
    FakeFrontend,
    FakeProviders,
    allow,
    ask_resources,
    calls,
    ports,
    says,
)
from unit.turn.six_operations import ASKED, EDIT, OFFERED, WRITE, categories, results

from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.hook import (
    BeforeCall,
    HookEnd,
    HookPayload,
)
from pluggableharness.kernel.domain.message import Message, Role
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.render import TextNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.turn import run_turn


@pytest.mark.req("K1")
async def test_a_message_without_calls_ends_the_loop() -> None:
    given, _, record, _ = ports(says("Done."))
    history: list[Message] = []
    end = await run_turn(given, CONTEXT, history, OFFERED)
    assert end.done
    assert [message.text for message in history] == ["Done."]
    assert record.kinds() == ["message"]


@pytest.mark.req("K1", "K2", "K13")
async def test_results_come_back_in_the_order_the_model_wrote_the_calls() -> None:
    release = asyncio.Event()

    async def second_first(call: Call) -> Outcome:
        if call.tool_use_id == "use-0":
            await release.wait()
        else:
            release.set()
        return Success({"was": call.tool_use_id})

    given, *_ = ports(calls("read", "read"), providers=FakeProviders(second_first))
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    assert [result.tool_use_id for result in results(history)] == ["use-0", "use-1"]
    assert [message.role for message in history] == [Role.ASSISTANT, Role.USER]


@pytest.mark.req("K2", "P8")
async def test_unknown_tools_and_bad_arguments_get_their_result_and_reach_no_provider() -> None:
    message = Message(
        Role.ASSISTANT,
        (
            ProposedCall("a", "toy.raed", {}),
            ProposedCall("b", "toy.read", {"x": 5}),
            ProposedCall("c", "toy.read", '{"x": "1"'),
            ProposedCall("d", "toy.read", {"x": "fine"}),
        ),
    )
    given, providers, record, _ = ports(message)
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    bad = "invalid_arguments"
    assert categories(history) == ["not_found", bad, bad, "ok"]
    assert providers.trace == ["start read", "end read"]
    assert record.kinds().count("refused") == 3


@pytest.mark.req("P8")
async def test_a_call_with_bad_arguments_is_put_to_no_hook_no_policy_and_no_preview() -> None:
    asked: list[str] = []

    class Watching:
        async def run(self, payload: HookPayload) -> HookEnd:
            if isinstance(payload, BeforeCall):
                asked.append(f"hook {payload.call.tool_use_id}")
            return HookEnd(payload)

    def decide(call: Call) -> Verdict:
        asked.append(f"policy {call.tool_use_id}")
        return allow(call)

    def preview(call: Call) -> None:
        asked.append(f"preview {call.tool_use_id}")

    bad, good = ProposedCall("bad", "toy.write", {"x": 5}), ProposedCall("good", "toy.write", {})
    given, *_ = ports(
        Message(Role.ASSISTANT, (bad, good)),
        providers=FakeProviders(previews=preview),
        decide=decide,
    )
    await run_turn(replace(given, hooks=Watching()), CONTEXT, [], OFFERED)
    assert asked == ["hook good", "policy good", "preview good"]


@pytest.mark.req("K1", "K13a")
async def test_reads_written_after_a_resource_run_after_it_and_those_before_run_before() -> None:
    given, providers, *_ = ports(calls("read", "write", "read"))
    await run_turn(given, CONTEXT, [], OFFERED)
    assert providers.trace == [
        "start read", "end read", "start write", "end write", "start read", "end read",
    ]  # fmt: skip


@pytest.mark.req("K13a")
async def test_an_exclusive_call_starts_when_the_edits_before_it_have_ended() -> None:
    given, providers, *_ = ports(calls("edit", "write", "shell", "edit"))
    await run_turn(given, CONTEXT, [], OFFERED)
    assert providers.trace == [
        "start edit", "start write", "end edit", "end write",
        "start shell", "end shell", "start edit", "end edit",
    ]  # fmt: skip


@pytest.mark.req("K10")
async def test_a_denied_call_never_runs_and_the_model_reads_who_and_why() -> None:
    front = FakeFrontend(lambda item, changed: Answer(False, "not on a Friday"))
    given, providers, *_ = ports(calls("write"), frontend=front, decide=ask_resources)
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    (result,) = results(history)
    assert isinstance(result.outcome, Failure)
    assert result.outcome.category is ErrorCategory.PERMISSION_DENIED
    assert "person: not on a Friday" in result.outcome.message
    assert providers.trace == []


@pytest.mark.req("K10", "K13a")
async def test_allowed_items_go_on_while_a_person_thinks_about_another() -> None:
    written = asyncio.Event()

    class Thinking(FakeFrontend):
        async def decide(self, item: PlanItem, changed: str) -> Answer | None:
            await written.wait()
            return Answer(True)

    async def behaviour(call: Call) -> Outcome:
        if call.operation is WRITE:
            written.set()
        return Success({})

    def ask_edits(call: Call) -> Verdict:
        return Verdict(Decision.ASK if call.operation is EDIT else Decision.ALLOW, "test")

    given, providers, *_ = ports(
        calls("edit", "write"),
        providers=FakeProviders(behaviour),
        frontend=Thinking(lambda item, changed: None),
        decide=ask_edits,
    )
    await asyncio.wait_for(run_turn(given, CONTEXT, [], OFFERED), 5)
    assert providers.trace == ["start write", "end write", "start edit", "end edit"]


@pytest.mark.req("K13a")
@pytest.mark.parametrize("denied", [("use-1",), ("use-1", "use-2")])
async def test_what_stands_behind_a_denied_call_still_waits_for_those_before_it(
    denied: tuple[str, ...],
) -> None:
    async def first_takes_long(call: Call) -> Outcome:
        for _ in range(100 if call.tool_use_id == "use-0" else 0):
            await asyncio.sleep(0)
        return Success({})

    def decide(call: Call) -> Verdict:
        return Verdict(Decision.DENY, "rule") if call.tool_use_id in denied else allow(call)

    message = calls(*["shell"] * (len(denied) + 2))
    given, providers, *_ = ports(message, providers=FakeProviders(first_takes_long), decide=decide)
    await asyncio.wait_for(run_turn(given, CONTEXT, [], OFFERED), 5)
    assert providers.trace == ["start shell", "end shell", "start shell", "end shell"]


@pytest.mark.req("K10a")
async def test_what_changed_since_the_approval_goes_back_to_the_person() -> None:
    shown = [TextNode("before"), *(TextNode("after") for _ in range(3))]
    seen: list[tuple[object, str]] = []

    def answer(item: PlanItem, changed: str) -> Answer:
        seen.append((item.preview, changed))
        return Answer(True)

    previews = iter(shown)
    given, providers, *_ = ports(
        calls("write"),
        providers=FakeProviders(previews=lambda call: next(previews)),
        frontend=FakeFrontend(answer),
        decide=ask_resources,
    )
    await run_turn(given, CONTEXT, [], OFFERED)
    assert seen == [(shown[0], ""), (shown[1], "what this call would do has changed")]
    assert providers.trace == ["start write", "end write"]


@pytest.mark.req("K10a")
async def test_an_operation_that_changed_its_declaration_is_not_run_on_an_old_approval() -> None:
    answers = iter([Answer(True), Answer(False, "no longer")])
    given, providers, *_ = ports(
        calls("write"),
        providers=FakeProviders(declared=False),
        frontend=FakeFrontend(lambda item, changed: next(answers)),
        decide=ask_resources,
    )
    await run_turn(given, CONTEXT, [], OFFERED)
    assert providers.trace == []


@pytest.mark.req("K27")
async def test_the_intent_of_a_resource_is_on_disk_before_it_is_sent() -> None:
    durable_at_start: list[list[str]] = []

    async def behaviour(call: Call) -> Outcome:
        durable_at_start.append(record.kinds()[: record.on_disk])
        return Success({})

    given, _, record, _ = ports(calls("write"), providers=FakeProviders(behaviour))
    await run_turn(given, CONTEXT, [], OFFERED)
    assert durable_at_start == [["message", "plan", "decision", "call"]]
    assert "outcome" in record.kinds()[: record.on_disk]


@pytest.mark.req("P17")
async def test_a_retryable_read_runs_at_most_three_times_and_each_attempt_is_filed() -> None:
    async def flaky(call: Call) -> Outcome:
        return Failure(ErrorCategory.EXECUTION_FAILED, "try later", retryable=True)

    given, providers, record, _ = ports(calls("read"), providers=FakeProviders(flaky))
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    assert providers.trace.count("start read") == 3
    assert record.kinds().count("call") == record.kinds().count("outcome") == 3
    assert categories(history) == ["execution_failed"]


@pytest.mark.req("K12")
async def test_a_terminating_call_ends_the_loop_while_the_others_still_finish() -> None:
    given, providers, *_ = ports(calls("finish", "write", "read"))
    history: list[Message] = []
    end = await run_turn(given, CONTEXT, history, OFFERED)
    assert end.done
    assert end.final == Success({"did": "finish"})
    assert categories(history) == ["ok", "ok", "ok"]
    assert "end read" in providers.trace


@pytest.mark.req("K12")
async def test_a_terminating_call_that_failed_or_was_denied_does_not_end_the_loop() -> None:
    async def fail(call: Call) -> Outcome:
        return Failure(ErrorCategory.EXECUTION_FAILED, "no")

    given, *_ = ports(calls("finish"), providers=FakeProviders(fail))
    assert not (await run_turn(given, CONTEXT, [], OFFERED)).done
    given, *_ = ports(calls("finish"), decide=ask_resources)
    assert not (await run_turn(given, CONTEXT, [], OFFERED)).done


@pytest.mark.req("C21")
async def test_an_interactive_call_without_a_person_fails_at_once() -> None:
    given, providers, *_ = ports(calls("asked"))
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    assert categories(history) == ["execution_failed"]
    assert providers.trace == []


@pytest.mark.req("C21")
async def test_a_persons_answer_becomes_the_result_of_an_interactive_call() -> None:
    front = FakeFrontend(lambda item, changed: None, interactive_answer={"answer": "blue"})
    given, *_ = ports(calls("asked"), frontend=front)
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    assert results(history)[0].outcome == Success({"answer": "blue"})


@pytest.mark.req("C21")
async def test_an_answer_that_does_not_fit_what_the_operation_declares_is_no_result() -> None:
    text = Schema(SchemaType.STRING)
    output = Schema(SchemaType.OBJECT, properties={"answer": text}, required=("answer",))
    front = FakeFrontend(lambda item, changed: None, interactive_answer={"answer": 7})
    given, *_ = ports(calls("asked"), frontend=front)
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, (replace(ASKED, output_schema=output),))
    (wrong,) = results(history)
    assert isinstance(wrong.outcome, Failure)
    assert "the answer does not fit the operation's output schema" in wrong.outcome.message
    assert wrong.outcome.details and "answer" in str(wrong.outcome.details["violations"])


@pytest.mark.req("C21", "K14")
async def test_a_question_that_nobody_answered_by_its_deadline_is_a_timeout() -> None:
    class Late(FakeFrontend):
        async def answer(self, call: Call) -> JsonObject | None:
            raise TimeoutError

    given, *_ = ports(calls("asked", "read"), frontend=Late(lambda item, changed: None))
    history: list[Message] = []
    await run_turn(given, CONTEXT, history, OFFERED)
    assert categories(history) == ["timeout", "ok"]
    (late, _) = results(history)
    assert isinstance(late.outcome, Failure)
    assert "nobody answered in 120 s" in late.outcome.message
