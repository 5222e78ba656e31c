"""A turn on a real log: what it leaves there, and that nothing unrecorded runs."""

import asyncio
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from store_logs import TOY
from unit.turn.doubles import CONTEXT, FakeFrontend, FakeProviders, calls, operation, ports, says

from pluggableharness.kernel.codec.record import read_apply, read_call, read_outcome, read_plan
from pluggableharness.kernel.codec.record_facts import read_decision, read_facts
from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.event import Event
from pluggableharness.kernel.domain.message import Message, Role, Usage
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.render import TextNode
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.session.ports import SessionRecord
from pluggableharness.kernel.session.session import Session
from pluggableharness.kernel.store import file as log_file
from pluggableharness.kernel.store.errors import LogBusy
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events, read_meta, read_spent, verify
from pluggableharness.kernel.store.session_record import SessionLog
from pluggableharness.kernel.turn.turn import run_turn

READ = operation("read")
WRITE = operation("write", Kind.RESOURCE, idempotent=True)


@pytest.fixture
def record(log: EventLog) -> SessionRecord:
    return SessionLog(log, lambda provider: replace(TOY, name=provider))


async def session(record: SessionRecord, *messages: Message, **doubles: Any) -> Session:
    bound, *_ = ports(*messages, **doubles)
    run = Session("session", "/work", (READ, WRITE), replace(bound, record=record), record)
    await run.run("do it")
    return run


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


@pytest.mark.req("K27")
async def test_a_session_can_be_read_back_from_its_log(
    log: EventLog, record: SessionRecord
) -> None:
    providers = FakeProviders(previews=lambda call: TextNode("writes"))
    run = await session(record, calls("read", "write", "no"), says("done"), providers=providers)
    events = list(read_events(log.path))
    assert kinds(events) == [
        "session",
        "message",
        "message",
        "decision",
        "tool_result",
        "decision",
        "tool_call",
        "tool_result",
        "plan",
        "decision",
        "tool_call",
        "tool_result",
        "apply",
        "message",
        "session",
    ]
    assert read_facts(events[0].payload)["event"] == "started"
    spoken = [read_message(event.payload) for event in events if event.kind == "message"]
    assert [message.reply.message for message in spoken] == [
        message for message in run.history if message.role.value == "assistant" or message.text
    ]
    assert [message.model for message in spoken] == ["", "list", "list"]
    refused = read_decision(events[3].payload)
    assert (refused.name, refused.tool_use_id, refused.verdict) == ("toy.no", "use-2", None)
    assert read_call(events[6].payload).tool_name == "read"
    plan = read_plan(events[8].payload)
    assert (plan.items[0].tool_name, plan.items[0].preview) == ("write", TextNode("writes"))
    decision = read_decision(events[9].payload)
    assert (decision.tool_use_id, decision.idempotent) == ("use-1", True)
    assert decision.verdict == Verdict(Decision.ALLOW, "test")
    (applied,) = read_apply(events[12].payload).items
    assert applied.call_id == decision.call_id == read_outcome(events[11].payload).call_id
    assert applied.outcome == Success({"did": "write"})
    assert read_facts(events[-1].payload)["status"] == "completed"
    assert read_meta(log.path)["status"] == "completed"
    assert verify(log.path, record.head).ok


HOSTILE: tuple[JsonObject | str, ...] = (
    *('{"x": "1"', "", "null", "[]", '"x"', '{"x":"1","x":"2"}', '\ufeff{"x":"1"}', '{"x":"1",}'),
    *('{"x": NaN}', '{"x": 1e999}', '{"x": "\\ud800"}', '{"x": ' + "9" * 5000 + "}"),
    *("[" * 100_000 + "]" * 100_000, '{"x":' * 100_000 + "1" + "}" * 100_000),
    *({"x": "\ud800"}, {"\ud800": 1}, {"x": float("nan")}, {"x": float("inf")}, {"x": 2**63}),
)


@pytest.mark.req("P8", "K27")
async def test_whatever_a_model_writes_as_arguments_is_refused_recorded_and_the_session_goes_on(
    log: EventLog, record: SessionRecord
) -> None:
    """Cases policy-and-schema-17, -20 and -21, exec-15 and session-log-06, through a session."""
    proposed = [
        ProposedCall(f"use-{number}", "toy.write", arguments)
        for number, arguments in enumerate(HOSTILE)
    ]
    providers = FakeProviders()
    said = Message(Role.ASSISTANT, tuple(proposed))
    run = await session(record, said, says("done"), providers=providers)
    assert run.history[-1].text == "done"
    assert providers.trace == []
    events = list(read_events(log.path))
    ends = [read_outcome(event.payload).outcome for event in events if event.kind == "tool_result"]
    categories = [end.category for end in ends if isinstance(end, Failure)]
    assert categories == [ErrorCategory.INVALID_ARGUMENTS] * len(HOSTILE)
    recorded = [read_message(event.payload) for event in events if event.kind == "message"][1]
    kept = [call.arguments for call in recorded.reply.message.calls]
    texts = [one for one in HOSTILE if isinstance(one, str)]
    assert kept[: len(texts)] == texts
    assert verify(log.path, record.head).ok


@pytest.mark.req("K27", "K28")
async def test_rows_of_a_call_name_the_provider_that_it_was_sent_to(
    log: EventLog, record: SessionRecord
) -> None:
    def decide(call: Call) -> Verdict:
        return Verdict(Decision.ALLOW if call.operation is READ else Decision.DENY, "test")

    await session(record, calls("read", "write"), says("done"), decide=decide)
    producers = {
        (event.kind, event.producer.name)
        for event in read_events(log.path)
        if event.kind in ("tool_call", "tool_result")
    }
    results = [event for event in read_events(log.path) if event.kind == "tool_result"]
    assert [event.producer.name for event in results] == ["toy", "kernel"]
    assert producers == {("tool_call", "toy"), ("tool_result", "toy"), ("tool_result", "kernel")}


@pytest.mark.req("K9", "K27")
async def test_plan_items_have_their_table(log: EventLog, record: SessionRecord) -> None:
    providers = FakeProviders(previews=lambda call: TextNode("writes"))
    await session(record, calls("write"), says("done"), providers=providers)
    with sqlite3.connect(f"{log.path.as_uri()}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        (row,) = connection.execute("SELECT * FROM plan_items").fetchall()
    connection.close()
    assert (row["provider"], row["tool_name"], row["kind"]) == ("toy", "write", "resource")
    assert (row["arguments"], row["decision"], row["applied"]) == ("{}", "allow", "applied")
    assert row["preview"]


@pytest.mark.req("K20", "K27")
async def test_what_the_model_cost_is_in_the_ledger(log: EventLog, record: SessionRecord) -> None:
    record.started("/work\udc80", "priced")
    record.message(says("dear"), Usage(1000, 10), 0.5)
    record.message(says("cheap"), Usage(0, 0), 0.0)
    await record.durable()
    assert read_spent(log.path) == (0.5, Usage(1000, 10))
    assert read_meta(log.path)["working_directory"] == "/work\\udc80"


@pytest.mark.req("K27", "R10")
async def test_a_resource_call_whose_intent_cannot_be_logged_is_not_sent(
    log: EventLog, record: SessionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case session-log-02."""
    monkeypatch.setattr(log_file, "PATIENCE_S", 0.1)
    bound, providers, _, _ = ports(calls("write", "write", "write"))
    holder = sqlite3.connect(log.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LogBusy):
        await asyncio.wait_for(
            run_turn(replace(bound, record=record), CONTEXT, [], (WRITE,)), timeout=30
        )
    assert providers.trace == []
    holder.close()
    await record.durable()
    intents = [event for event in read_events(log.path) if event.kind == "tool_call"]
    ends = [
        read_outcome(event.payload)
        for event in read_events(log.path)
        if event.kind == "tool_result"
    ]
    assert len(ends) == 3
    assert all(isinstance(end.outcome, Failure) for end in ends)
    assert len(intents) <= 3


@pytest.mark.req("K27")
async def test_the_intent_is_on_disk_while_a_resource_call_runs_and_the_outcome_when_heard(
    log: EventLog, record: SessionRecord
) -> None:
    seen: list[list[str]] = []

    async def look(call: Call) -> Outcome:
        seen.append(kinds(list(read_events(log.path))))
        return Failure(ErrorCategory.EXECUTION_FAILED, "no")

    await session(record, calls("write"), says("done"), providers=FakeProviders(behaviour=look))
    assert seen[0][-1] == "tool_call"


@pytest.mark.req("K27")
async def test_a_long_session_does_not_remember_its_calls(record: SessionRecord) -> None:
    assert isinstance(record, SessionLog)
    frontend = FakeFrontend()
    await session(record, *[calls("read", "write") for _ in range(5)], frontend=frontend)
    assert record._sent == set()
