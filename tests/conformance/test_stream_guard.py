"""No stream that breaks the contract becomes a result (P10-P12, P15)."""

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    ExitStatus,
    Failure,
    LeadUp,
    Outcome,
    OutputChunk,
    OutputStream,
    Progress,
    Success,
)
from pluggableharness.kernel.plugins.stream_guard import MAY_HAVE_HAPPENED, StreamGuard
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.structs import to_struct

Event = tool_pb2.ToolEvent

OUTPUT = Schema(
    SchemaType.OBJECT, properties={"text": Schema(SchemaType.STRING)}, required=("text",)
)
GOOD = {"text": "hello"}


def operation(*, streaming: bool = True, kind: Kind = Kind.DATA_SOURCE) -> Operation:
    risk = Risk.HIGH if kind is Kind.RESOURCE else Risk.READ_ONLY
    return Operation(
        "demo", "say", kind, risk, "Says.", Schema(SchemaType.OBJECT), OUTPUT, streaming=streaming
    )


def result(payload: Mapping[str, object]) -> Event:
    return Event(result=tool_pb2.ToolResult(payload=to_struct(payload)))


def error(category: int, message: str = "no") -> Event:
    raw = Event(error=tool_pb2.ToolError(message=message))
    raw.error.category = category  # type: ignore[assignment]
    return raw


def chunk(stream: int, data: bytes = b"x") -> Event:
    raw = Event(output_chunk=Event.OutputChunk(data=data))
    raw.output_chunk.stream = stream  # type: ignore[assignment]
    return raw


def progress(fraction: float | None) -> Event:
    return Event(progress=Event.Progress(message="m", fraction_complete=fraction))


def exit_status(code: int = 0) -> Event:
    return Event(exit_status=Event.ExitStatus(exit_code=code))


def sent(event: Event) -> bytes:
    return tool_pb2.InvokeResponse(event=event).SerializeToString()


def run(
    events: Sequence[Event | bytes], which: Operation | None = None
) -> tuple[list[LeadUp], Outcome]:
    guard = StreamGuard(which or operation())
    raw = [event if isinstance(event, bytes) else sent(event) for event in events]
    heard = [guard.event(data) for data in raw]
    return [event for event in heard if event is not None], guard.closed()


def broken(outcome: Outcome) -> str:
    assert isinstance(outcome, Failure)
    assert outcome.category is ErrorCategory.UNKNOWN
    assert outcome.details is not None
    return str(outcome.details["broken"])


@pytest.mark.req("P10", "P13")
def test_a_whole_stream_arrives_in_order_and_ends_in_its_result() -> None:
    heard, outcome = run([chunk(1), progress(0.5), progress(None), exit_status(3), result(GOOD)])
    assert heard == [
        OutputChunk(OutputStream.STDOUT, b"x"),
        Progress("m", 0.5),
        Progress("m"),
        ExitStatus(3),
    ]
    assert outcome == Success(GOOD)


@pytest.mark.req("P15")
def test_a_providers_own_error_keeps_its_category_message_and_details() -> None:
    raw = error(tool_pb2.TOOL_ERROR_CATEGORY_NOT_FOUND, "no such task")
    raw.error.retryable = True
    raw.error.details.CopyFrom(to_struct({"id": 7}))
    assert run([raw])[1] == Failure(ErrorCategory.NOT_FOUND, "no such task", True, {"id": 7})


@pytest.mark.req("P11")
@pytest.mark.parametrize(
    ("events", "rule"),
    [
        ([result(GOOD), result(GOOD)], "second terminal"),
        ([result(GOOD), error(2)], "second terminal"),
        ([error(2), error(2)], "second terminal"),
        ([result(GOOD), progress(None)], "after the end"),
        ([result(GOOD), Event()], "after the end"),
        ([exit_status(), exit_status(), result(GOOD)], "second exit_status"),
        ([Event(), result(GOOD)], "empty event"),
        ([b"", result(GOOD)], "empty event"),
        ([b"\xff\xff", result(GOOD)], "cannot be decoded"),
        ([chunk(0), result(GOOD)], "unspecified stream"),
        ([chunk(9), result(GOOD)], "unspecified stream"),
        ([error(0)], "unspecified category"),
        ([error(42)], "unspecified category"),
        ([progress(1.01), result(GOOD)], "outside 0..1"),
        ([progress(-0.01), result(GOOD)], "outside 0..1"),
        ([progress(math.nan), result(GOOD)], "outside 0..1"),
        ([progress(math.inf), result(GOOD)], "outside 0..1"),
        ([], "without a result"),
        ([progress(0.0), progress(1.0)], "without a result"),
    ],
)
def test_each_breach_makes_the_call_unknown_and_is_named(
    events: list[Event | bytes], rule: str
) -> None:
    assert rule in broken(run(events)[1])


@pytest.mark.req("P11")
def test_the_offending_event_is_in_the_details() -> None:
    outcome = run([chunk(0, b"the culprit"), result(GOOD)])[1]
    assert isinstance(outcome, Failure) and outcome.details is not None
    assert "the culprit" in str(outcome.details["event"])


@pytest.mark.req("P11")
def test_a_huge_offending_event_is_cut_in_the_details() -> None:
    outcome = run([chunk(0, b"x" * 5_000_000)])[1]
    assert isinstance(outcome, Failure) and outcome.details is not None
    assert "5000" in str(outcome.details["event"])
    assert len(str(outcome.details["event"])) < 70_000


@pytest.mark.req("P11")
@pytest.mark.parametrize("event", [chunk(1), progress(None), exit_status()])
def test_an_operation_that_does_not_stream_may_send_nothing_before_its_end(event: Event) -> None:
    heard, outcome = run([event, result(GOOD)], operation(streaming=False))
    assert heard == []
    assert "streaming = false" in broken(outcome)


@pytest.mark.req("P11")
def test_nothing_is_heard_after_a_breach() -> None:
    heard, _ = run([progress(0.1), Event(), progress(0.2), result(GOOD)])
    assert heard == [Progress("m", 0.1)]


@pytest.mark.req("P12")
def test_a_payload_that_does_not_fit_is_kept_with_its_violations_but_no_result() -> None:
    outcome = run([result({"text": 5, "more": True})])[1]
    assert isinstance(outcome, Failure) and outcome.category is ErrorCategory.UNKNOWN
    assert outcome.details is not None
    assert outcome.details["payload"] == {"text": 5, "more": True}
    assert "text" in str(outcome.details["violations"])


@pytest.mark.req("P12")
def test_undeclared_properties_of_a_result_pass() -> None:
    assert run([result({"text": "t", "more": [1]})])[1] == Success({"text": "t", "more": [1]})


@pytest.mark.req("P12")
@pytest.mark.parametrize("number", [math.nan, math.inf, 2.0**60])
def test_a_payload_with_a_number_that_json_cannot_hold_is_no_result(number: float) -> None:
    raw = result(GOOD)
    raw.result.payload.fields["n"].number_value = number
    outcome = run([raw])[1]
    assert isinstance(outcome, Failure) and outcome.category is ErrorCategory.UNKNOWN


@pytest.mark.req("P11", "P12")
@pytest.mark.parametrize("events", [[], [Event()], [result({})], [result(GOOD), result(GOOD)]])
def test_for_a_resource_the_error_says_that_the_effect_may_have_happened(
    events: list[Event],
) -> None:
    outcome = run(events, operation(kind=Kind.RESOURCE))[1]
    assert isinstance(outcome, Failure) and MAY_HAVE_HAPPENED in outcome.message
    calm = run(events, operation(kind=Kind.DATA_SOURCE))[1]
    assert isinstance(calm, Failure) and MAY_HAVE_HAPPENED not in calm.message


@pytest.mark.req("P15")
def test_a_provider_cannot_claim_that_its_process_crashed() -> None:
    outcome = run([error(tool_pb2.TOOL_ERROR_CATEGORY_PROCESS_CRASHED, "dead")])[1]
    assert "only the kernel" in broken(outcome)
    assert isinstance(outcome, Failure) and outcome.details is not None
    assert "dead" in str(outcome.details["event"])


@pytest.mark.req("P11")
def test_a_stream_that_ends_with_a_bad_status_has_no_result() -> None:
    guard = StreamGuard(operation())
    guard.event(sent(result(GOOD)))
    assert "status INTERNAL after a result" in broken(guard.failed("INTERNAL", "oops"))


@pytest.mark.req("P11")
def test_a_stream_that_stays_open_after_its_end_has_no_result() -> None:
    guard = StreamGuard(operation())
    guard.event(sent(result(GOOD)))
    assert guard.ended
    assert "still open" in broken(guard.left_open(5))


FRACTIONS = st.none() | st.floats(0, 1) | st.floats(allow_nan=True, allow_infinity=True)
PAYLOADS = st.sampled_from([GOOD, {"text": ""}, {"text": "t", "more": 1}, {}, {"text": 1}])
EVENTS = st.one_of(
    st.builds(chunk, st.integers(0, 3), st.binary(max_size=4)),
    st.builds(progress, FRACTIONS),
    st.builds(exit_status, st.integers(-5, 255)),
    st.builds(result, PAYLOADS),
    st.builds(error, st.integers(0, 10)),
    st.just(Event()),
    st.just(Event(partial_result=Event.PartialResult(payload=to_struct({"a": 1})))),
)


def obeys(events: Sequence[Event], streaming: bool) -> bool:
    """The grammar, written a second time from the contract and not from the guard."""
    if not events or any(event.WhichOneof("event") is None for event in events):
        return False
    *before, last = events
    kinds = [event.WhichOneof("event") for event in before]
    return (
        not {"result", "error"} & set(kinds)
        and (streaming or not before)
        and kinds.count("exit_status") <= 1
        and all(
            event.output_chunk.stream in (1, 2)
            for event in before
            if event.WhichOneof("event") == "output_chunk"
        )
        and all(
            0 <= event.progress.fraction_complete <= 1
            for event in before
            if event.progress.HasField("fraction_complete")
        )
        and (
            last.WhichOneof("event") == "result"
            or (last.WhichOneof("event") == "error" and last.error.category in {*range(1, 8), 9})
        )
    )


@pytest.mark.req("P10", "P11", "P12", "P15")
@settings(max_examples=500, deadline=None)
@given(st.lists(EVENTS, max_size=6), st.booleans(), st.sampled_from(Kind))
def test_only_a_stream_that_obeys_the_contract_yields_what_it_says(
    events: list[Event], streaming: bool, kind: Kind
) -> None:
    heard, outcome = run(events, operation(streaming=streaming, kind=kind))
    if not obeys(events, streaming):
        assert broken(outcome)
        return
    assert len(heard) == len(events) - 1
    last = events[-1]
    if last.WhichOneof("event") == "error":
        assert isinstance(outcome, Failure) and outcome.message == "no"
        assert outcome.category is list(ErrorCategory)[last.error.category - 1]
    elif isinstance(last.result.payload.fields["text"].string_value, str) and (
        last.result.payload.fields["text"].WhichOneof("kind") == "string_value"
    ):
        assert isinstance(outcome, Success)
    else:
        assert isinstance(outcome, Failure) and outcome.category is ErrorCategory.UNKNOWN


@pytest.mark.req("P11")
@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=5))
def test_no_bytes_at_all_upset_the_guard(messages: list[bytes]) -> None:
    guard = StreamGuard(operation())
    for message in messages:
        guard.event(message)
    assert isinstance(guard.closed(), Failure | Success)
