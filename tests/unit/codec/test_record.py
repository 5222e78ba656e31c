"""Payloads of the record: what goes in comes out, and what a foreign reader makes of it."""

import json

import pytest

from pluggableharness.kernel.codec.json_text import json_bytes, json_value, unicode_text
from pluggableharness.kernel.codec.record import (
    apply_payload,
    call_payload,
    outcome_payload,
    plan_payload,
    read_apply,
    read_call,
    read_outcome,
    read_plan,
)
from pluggableharness.kernel.codec.record_facts import (
    decision_payload,
    ended_payload,
    read_decision,
    read_ended,
    read_facts,
    refusal_payload,
    started_payload,
)
from pluggableharness.kernel.codec.record_messages import message_payload, read_message
from pluggableharness.kernel.codec.record_objects import AS_TEXT, AS_WRITTEN
from pluggableharness.kernel.codec.record_view import payload_view
from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.event import Event, Producer
from pluggableharness.kernel.domain.message import Message, Role, Text, ToolResult, Usage
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Applied, ApplyItem, Plan, PlanItem
from pluggableharness.kernel.domain.recorded import RecordedApplyItem, RecordedPlanItem
from pluggableharness.kernel.domain.render import TextNode
from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Opined, Opinion, Verdict
from pluggableharness.wire import event_pb2

WRITE = Operation(
    "filesystem",
    "write_file",
    Kind.RESOURCE,
    Risk.MODERATE,
    "Write a file",
    Schema(SchemaType.OBJECT),
    Schema(SchemaType.OBJECT),
    idempotent=True,
)
ARGUMENTS: JsonObject = {"path": "a.txt", "lines": [1, 2.5, None, True, {"x": "ü\x00"}]}
CALL = Call("call", WRITE, ARGUMENTS, CallContext("session", "turn", "/work"), "toolu_1")
DENIED = Verdict(Decision.DENY, "nobody", "no one here", downgraded_from=Decision.ASK)
FAILURE = Failure(ErrorCategory.NOT_FOUND, "no such file", True, {"path": "a.txt"})
DEEP: JsonObject = {"a": json.loads("[" * 95 + "]" * 95)}


def round_trip(arguments: JsonObject | str) -> JsonObject | str:
    message = Message(Role.ASSISTANT, (ProposedCall("id", "toy.do", arguments),))
    (call,) = read_message(message_payload(message, "", Usage(), 0.0)).reply.message.calls
    return call.arguments


@pytest.mark.req("K27")
def test_a_message_comes_back_with_its_cost() -> None:
    blocks = (
        Text("I write.\r\n\u2028\x00\x1b[0m"),
        ProposedCall("toolu_1", "filesystem.write_file", ARGUMENTS),
        ProposedCall("toolu_2", "filesystem.write_file", '{"path": '),
        ToolResult("toolu_1", "filesystem.write_file", Success({"bytes": 5})),
        ToolResult("toolu_2", "filesystem.write_file", FAILURE),
    )
    message = Message(Role.ASSISTANT, blocks, "id")
    recorded = read_message(message_payload(message, "script", Usage(10, 20), 0.5))
    assert recorded.reply.message == message
    assert (recorded.reply.usage, recorded.reply.cost_usd) == (Usage(10, 20), 0.5)
    assert recorded.model == "script"


@pytest.mark.req("K27")
def test_a_call_comes_back_as_far_as_the_record_knows_it() -> None:
    recorded = read_call(call_payload(CALL))
    assert (recorded.id, recorded.tool_name) == ("call", "write_file")
    assert recorded.arguments == ARGUMENTS
    assert recorded.context == CALL.context


@pytest.mark.req("K27")
@pytest.mark.parametrize("outcome", [Success(ARGUMENTS), Success({}), Success(DEEP), FAILURE])
def test_an_outcome_comes_back(outcome: Outcome) -> None:
    recorded = read_outcome(outcome_payload("call", outcome))
    assert (recorded.call_id, recorded.outcome) == ("call", outcome)


@pytest.mark.req("K9", "K27")
def test_a_plan_comes_back_as_it_was_shown() -> None:
    preview = TextNode("writes a.txt")
    items = (PlanItem("1", CALL, preview, DENIED), PlanItem("2", CALL, None, DENIED))
    recorded = read_plan(plan_payload(Plan("turn", items)))
    assert recorded.turn_id == "turn"
    assert recorded.items[0] == RecordedPlanItem(
        "1",
        "call",
        "filesystem",
        "write_file",
        ARGUMENTS,
        Kind.RESOURCE,
        Risk.MODERATE,
        "Write a file",
        preview,
        Decision.DENY,
        "nobody",
    )
    assert recorded.items[1].preview is None


@pytest.mark.req("K27")
def test_what_became_of_a_plan_comes_back() -> None:
    item = PlanItem("1", CALL, None, DENIED)
    ends = [
        ApplyItem(item, Applied.APPLIED, Success({"n": 1})),
        *[ApplyItem(item, applied, FAILURE) for applied in Applied],
    ]
    recorded = read_apply(apply_payload("turn", ends))
    assert recorded.items == tuple(
        RecordedApplyItem("1", "call", end.applied, end.outcome) for end in ends
    )


@pytest.mark.req("K6", "K27")
def test_a_decision_pairs_a_call_with_the_message_and_keeps_the_downgrade() -> None:
    recorded = read_decision(decision_payload(CALL, DENIED))
    assert (recorded.call_id, recorded.tool_use_id) == ("call", "toolu_1")
    assert (recorded.name, recorded.idempotent) == ("filesystem.write_file", True)
    assert recorded.verdict == DENIED


@pytest.mark.req("K27")
def test_a_refused_call_is_a_decision_without_a_verdict() -> None:
    refused = RefusedCall("call", "toolu_1", "no.such\ud83d", {}, FAILURE)
    recorded = read_decision(refusal_payload(refused))
    assert (recorded.name, recorded.verdict) == ("no.such\\ud83d", None)


@pytest.mark.req("K27")
def test_a_sessions_start_and_end_are_facts() -> None:
    started = read_facts(started_payload("session", "/work", "script"))
    assert (started["event"], started["working_directory"]) == ("started", "/work")
    child = read_facts(started_payload("session", "/work", "script", "tester", "above"))
    assert (child["profile"], child["parent"]) == ("tester", "above")
    end = SessionEnd("session", SessionStatus.COMPLETED, "", "done")
    assert read_facts(ended_payload(end))["status"] == "completed"


@pytest.mark.req("K27")
def test_payloads_are_the_contracts_messages() -> None:
    event = event_pb2.ToolCallEvent.FromString(call_payload(CALL))
    assert event.call.arguments.fields["path"].string_value == "a.txt"
    result = event_pb2.ToolResultEvent.FromString(outcome_payload("call", FAILURE))
    assert result.error.message == "no such file"


@pytest.mark.req("K27")
@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 2**63},
        {"n": -(2**53) - 1},
        {"n": 1e300},
        DEEP,
        {AS_TEXT: "mine"},
        {AS_WRITTEN: "mine"},
        {AS_TEXT: "{}", "more": 1},
        '{"torn": ',
        "[" * 500_000 + "]" * 500_000,
        "",
        {},
    ],
)
def test_whatever_a_model_wrote_comes_back(arguments: JsonObject | str) -> None:
    """Case session-log-06: a Struct would round, refuse or confuse these."""
    assert round_trip(arguments) == arguments


@pytest.mark.req("K27")
@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"\ud800": ["x\ud83d"]}, {"\\ud800": ["x\\ud83d"]}),
        (
            {"n": [float("nan"), float("inf"), float("-inf")]},
            {"n": ["NaN", "Infinity", "-Infinity"]},
        ),
        ('{"x": "\ud800"', '{"x": "\\ud800"'),
    ],
)
def test_what_json_does_not_have_is_kept_by_a_rule(
    arguments: JsonObject | str, kept: JsonObject | str
) -> None:
    """Case session-log-06: no exception in the middle of a turn, no silent null."""
    assert round_trip(arguments) == kept


@pytest.mark.req("K27")
def test_an_object_nested_beyond_reason_is_said_to_be() -> None:
    nested: JsonObject = {}
    for _ in range(5000):
        nested = {"a": nested}
    assert round_trip(nested) == "a Python object of more than 100 levels"
    with pytest.raises(ValueError, match="too deeply"):
        json_bytes(nested)


@pytest.mark.req("K27")
def test_tool_output_comes_back_with_its_lone_surrogate_spelled_out() -> None:
    """Case session-log-05."""
    text = "a\nb\r\nc\u2028d\x00e\x1b[0m\ud83d"
    kept = "a\nb\r\nc\u2028d\x00e\x1b[0m\\ud83d"
    outcome = read_outcome(outcome_payload("call", Success({"output": text}))).outcome
    assert outcome == Success({"output": kept})
    message = Message(Role.USER, (Text(text), ToolResult("id", "n", Success({"output": text}))))
    recorded = read_message(message_payload(message, "", Usage(), 0.0)).reply.message
    assert recorded.blocks == (Text(kept), ToolResult("id", "n", Success({"output": kept})))


@pytest.mark.req("K27")
@pytest.mark.parametrize("payload", [b"\xff", b"\x0a\x02\x08\x63", b"{"])
def test_what_was_not_written_here_is_a_value_error(payload: bytes) -> None:
    for read in (read_message, read_call, read_outcome, read_plan, read_apply, read_decision):
        try:
            read(payload)
        except ValueError:
            continue


@pytest.mark.req("K27")
def test_a_decision_or_an_end_of_which_a_fact_is_of_another_kind_is_a_value_error() -> None:
    opinion = Opinion(Opined.DENY, "no")
    verdict = Verdict(Decision.DENY, "rule r", "", Decision.ASK, edited="path", opinion=opinion)
    decided = read_facts(decision_payload(CALL, verdict))
    for name in decided:
        with pytest.raises(ValueError, match=name):
            read_decision(json_bytes(decided | {name: ["x"]}))
    for name in ("kind", "risk", "decision", "downgraded_from"):
        with pytest.raises(ValueError):
            read_decision(json_bytes(decided | {name: "another"}))
    end = read_facts(ended_payload(SessionEnd("s", SessionStatus.COMPLETED)))
    assert read_ended("s", end) == SessionEnd("s", SessionStatus.COMPLETED)
    strange: list[JsonObject] = [{"status": "over"}, {"status": []}, {"reason": 7}]
    for wrong in [*strange, {"final_text": None}]:
        with pytest.raises(ValueError):
            read_ended("s", {**end, **wrong})


@pytest.mark.req("K27")
def test_a_decision_or_an_end_that_lacks_something_is_a_value_error() -> None:
    for payload in (b"[]", b"{}", b'{"call_id": "x", "tool_use_id": "", "name": ""}', b"nonsense"):
        with pytest.raises(ValueError):
            read_decision(payload)
    end = read_facts(ended_payload(SessionEnd("s", SessionStatus.COMPLETED)))
    for missing in ("status", "reason", "final_text"):
        with pytest.raises(ValueError, match=missing):
            read_ended("s", {name: fact for name, fact in end.items() if name != missing})


@pytest.mark.req("K27")
def test_a_view_shows_messages_and_facts_and_leaves_the_rest() -> None:
    def view(kind: str, schema_version: str, payload: bytes) -> object:
        return payload_view(Event(1, "", 0, kind, Producer(""), schema_version, payload, b""))

    call = view("tool_call", "event.v1", call_payload(CALL))
    assert isinstance(call, dict)
    assert call["call"]["tool_name"] == "write_file"
    assert view("session", "json.1", b'{"event":"ended"}') == {"event": "ended"}
    assert view("memory_write", "toy.1", b"\xff") is None
    assert view("tool_call", "event.v1", b"\xff") is None
    assert view("later", "event.v1", b"") is None


@pytest.mark.req("K27")
def test_json_text_is_one_line_of_plain_json() -> None:
    assert json_bytes({"a": ["x\ny", 2**70, -0.5, None, True]}) == (
        b'{"a":["x\\ny",1180591620717411303424,-0.5,null,true]}'
    )
    assert json_value(json_bytes({"n": 2**70})) == {"n": 2**70}
    assert unicode_text("plain ü") == "plain ü"
    with pytest.raises(ValueError, match="bytes is no JSON value"):
        json_bytes({"a": b""})
    with pytest.raises(ValueError, match="no JSON"):
        json_value(b"{")
