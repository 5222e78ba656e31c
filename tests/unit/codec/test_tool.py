"""What the codec writes and reads of operations, calls, events and outcomes."""

import json

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given, settings
from hypothesis import strategies as st

from pluggableharness.kernel.codec.tool import (
    call_to_wire,
    failure_from_wire,
    failure_to_wire,
    lead_up_from_wire,
    operation_from_wire,
)
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import (
    Concurrency,
    Kind,
    Operation,
    Risk,
    Schema,
    SchemaType,
)
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    ExitStatus,
    Failure,
    OutputChunk,
    OutputStream,
    PartialResult,
    Progress,
)
from pluggableharness.wire import schema_pb2, tool_pb2
from pluggableharness.wire.structs import from_struct, to_struct

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON, max_size=5)


def declaration() -> tool_pb2.ToolSchema:
    raw = tool_pb2.ToolSchema(
        name="write_file",
        kind=tool_pb2.TOOL_KIND_RESOURCE,
        risk=tool_pb2.RISK_CLASS_MODERATE,
        description="Writes a file.",
        streaming=True,
        concurrency=tool_pb2.ConcurrencySpec(safe=True, key_fields=["path"]),
        default_timeout=Duration(seconds=1, nanos=500_000_000),
        idempotent=True,
        terminates_turn=True,
    )
    raw.input_schema.type = schema_pb2.SCHEMA_TYPE_OBJECT
    raw.input_schema.required.append("path")
    path = raw.input_schema.properties["path"]
    path.type, path.description = schema_pb2.SCHEMA_TYPE_STRING, "Where."
    path.enum_values.extend(["a", "b"])
    tags = raw.input_schema.properties["also"]
    tags.type = schema_pb2.SCHEMA_TYPE_ARRAY
    tags.items.type = schema_pb2.SCHEMA_TYPE_NUMBER
    raw.output_schema.type = schema_pb2.SCHEMA_TYPE_OBJECT
    return raw


@pytest.mark.req("P1")
def test_an_operation_holds_all_that_its_declaration_says() -> None:
    assert operation_from_wire("filesystem", declaration()) == Operation(
        provider="filesystem",
        name="write_file",
        kind=Kind.RESOURCE,
        risk=Risk.MODERATE,
        description="Writes a file.",
        input_schema=Schema(
            SchemaType.OBJECT,
            properties={
                "also": Schema(SchemaType.ARRAY, items=Schema(SchemaType.NUMBER)),
                "path": Schema(SchemaType.STRING, "Where.", enum_values=("a", "b")),
            },
            required=("path",),
        ),
        output_schema=Schema(SchemaType.OBJECT),
        streaming=True,
        concurrency=Concurrency(True, ("path",)),
        default_timeout_s=1.5,
        idempotent=True,
        terminates_turn=True,
    )


@pytest.mark.req("P19")
def test_a_declaration_without_concurrency_is_not_safe() -> None:
    raw = declaration()
    raw.ClearField("concurrency")
    assert not operation_from_wire("filesystem", raw).safe


@pytest.mark.req("P4")
def test_concurrency_of_an_interactive_operation_is_dropped() -> None:
    raw = declaration()
    raw.kind = tool_pb2.TOOL_KIND_INTERACTIVE
    assert operation_from_wire("user", raw).concurrency is None


@pytest.mark.req("P7", "P9")
@settings(deadline=None)
@given(OBJECTS)
def test_a_call_carries_its_id_its_place_and_its_arguments(arguments: dict[str, object]) -> None:
    operation = operation_from_wire("filesystem", declaration())
    call = Call("01A", operation, arguments, CallContext("session", "turn", "/work"))  # type: ignore[arg-type]
    raw = tool_pb2.ToolCall.FromString(call_to_wire(call).SerializeToString())
    assert (raw.id, raw.tool_name) == ("01A", "write_file")
    assert raw.call_context.session_id == "session"
    assert raw.call_context.turn_id == "turn"
    assert raw.call_context.working_directory == "/work"
    assert from_struct(raw.arguments) == arguments


@pytest.mark.req("P10")
def test_events_keep_what_is_set_and_what_is_not() -> None:
    events = tool_pb2.ToolEvent
    out = events(
        output_chunk=events.OutputChunk(stream=tool_pb2.OUTPUT_STREAM_STDERR, data=b"\xff")
    )
    assert lead_up_from_wire(out) == OutputChunk(OutputStream.STDERR, b"\xff")
    assert lead_up_from_wire(events(progress=events.Progress(message="m"))) == Progress("m")
    half = events(progress=events.Progress(message="m", fraction_complete=0.0))
    assert lead_up_from_wire(half) == Progress("m", 0.0)
    part = events(partial_result=events.PartialResult(payload=to_struct({"a": 1})))
    assert lead_up_from_wire(part) == PartialResult({"a": 1})
    assert lead_up_from_wire(events(exit_status=events.ExitStatus(exit_code=0))) == ExitStatus(0)
    killed = events(exit_status=events.ExitStatus(exit_code=137, signal="SIGKILL"))
    assert lead_up_from_wire(killed) == ExitStatus(137, "SIGKILL")


@settings(deadline=None)
@given(st.sampled_from(ErrorCategory), st.booleans(), st.none() | OBJECTS)
def test_failures_come_back_as_they_went(
    category: ErrorCategory, retryable: bool, details: dict[str, object] | None
) -> None:
    failure = Failure(category, "what failed", retryable, details)  # type: ignore[arg-type]
    assert failure_from_wire(failure_to_wire(failure)) == failure


def test_a_failure_is_writable_whatever_its_details_hold() -> None:
    deep: dict[str, object] = {}
    for _ in range(40):
        deep = {"in": deep}
    failure = Failure(ErrorCategory.UNKNOWN, "odd \udcff", details={"deep": deep})  # type: ignore[dict-item]
    back = failure_from_wire(failure_to_wire(failure))
    assert back.message == "odd \\udcff"
    assert back.details is not None
    assert json.loads(str(back.details["json"])) == {"deep": deep}


def test_a_category_of_a_later_contract_is_unknown() -> None:
    raw = tool_pb2.ToolError(message="m")
    raw.category = 77  # type: ignore[assignment]
    assert failure_from_wire(raw).category is ErrorCategory.UNKNOWN
