"""Structs and JSON values, both ways."""

import math
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct, Value

from pluggableharness.wire import event_pb2, hook_pb2, tool_pb2
from pluggableharness.wire.structs import MAX_DEPTH, fill_struct, from_struct, path_text, to_struct

SAMPLE = {
    "text": "ünï\x00",
    "empty text": "",
    "number": 1.5,
    "whole": 3,
    "zero": 0,
    "negative": -(2**53),
    "yes": True,
    "no": False,
    "nothing": None,
    "list": [1, "a", None, [], {}, [True]],
    "object": {"": {"a": []}},
    "empty object": {},
    "empty list": [],
}


def test_json_values_come_back_as_they_went() -> None:
    assert from_struct(to_struct(SAMPLE)) == SAMPLE


def test_what_goes_out_is_what_protobufs_own_converter_makes() -> None:
    expected = Struct()
    json_format.ParseDict(SAMPLE, expected)
    assert to_struct(SAMPLE) == expected


@pytest.mark.req("P8")
def test_a_number_without_a_fraction_is_an_integer() -> None:
    struct = to_struct({"a": 5.0, "b": -0.0, "c": 5.5})
    read = from_struct(struct)
    assert [type(read[key]) for key in "abc"] == [int, int, float]


def test_booleans_stay_apart_from_numbers() -> None:
    read = from_struct(to_struct({"a": True, "b": 1}))
    assert read["a"] is True
    assert read["b"] is not True


def test_look_alikes_of_json_types_go_out_as_them() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Level(IntEnum):
        HIGH = 3

    mapping = MappingProxyType({"a": (Colour.RED, Level.HIGH), "b": MappingProxyType({"c": 1})})
    assert from_struct(to_struct(mapping)) == {"a": ["red", 3], "b": {"c": 1}}


@pytest.mark.req("P6")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"x": math.nan}, "x: nan is no JSON number"),
        ({"x": math.inf}, "x: inf is no JSON number"),
        ({"x": [0, {"y": -math.inf}]}, "x[1].y: -inf is no JSON number"),
        ({"x": 2**53 + 1}, "x: a number beyond 2^53 would be rounded; send it as a string"),
        ({"x": 10**400}, "x: a number beyond 2^53 would be rounded; send it as a string"),
        ({"x": 1e308}, "x: a number beyond 2^53 would be rounded; send it as a string"),
        ({"x": "\ud800"}, "x: text with a lone surrogate, which is not Unicode"),
        ({"x": ["a", "\udfff"]}, "x[1]: text with a lone surrogate, which is not Unicode"),
        ({"x": {"\ud800": 1}}, "x: the key '\\ud800' holds a lone surrogate, which is not Unicode"),
        ({"x": {5: "a"}}, "x: a key must be a string, got 5"),
        ({5: "a"}, "a key must be a string, got 5"),
        ({"x": b"a"}, "x: a bytes is no JSON value"),
        ({"x": {1, 2}}, "x: a set is no JSON value"),
    ],
    ids=repr,
)
def test_what_a_struct_would_change_is_refused_with_its_path(value: Any, message: Any) -> None:
    """Case policy-and-schema-17: NaN and what is like it."""
    with pytest.raises(ValueError) as refused:
        to_struct(value)
    assert str(refused.value) == message


@pytest.mark.req("P6")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Value(number_value=math.nan), "x.y: nan is no JSON number"),
        (Value(number_value=-math.inf), "x.y: -inf is no JSON number"),
        (
            Value(number_value=2.0**54),
            "x.y: a number beyond 2^53 would be rounded; send it as a string",
        ),
        (Value(), "x.y: a value that is not set"),
    ],
    ids=str,
)
def test_what_the_other_side_should_not_have_sent_is_refused_with_its_path(
    value: Any, message: Any
) -> None:
    struct = Struct()
    struct.fields["x"].struct_value.fields["y"].CopyFrom(value)
    with pytest.raises(ValueError) as refused:
        from_struct(struct)
    assert str(refused.value) == message
    in_a_list = Struct()
    in_a_list.fields["x"].list_value.values.extend([Value(bool_value=True), value])
    with pytest.raises(ValueError, match=r"^x\[1\]: "):
        from_struct(in_a_list)


def nested(levels: int) -> Any:
    value: Any = "leaf"
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.req("P6")
def test_the_deepest_object_fits_into_every_envelope_and_one_deeper_is_refused() -> None:
    struct = to_struct(nested(MAX_DEPTH))
    call = tool_pb2.ToolCall(arguments=struct)
    for message in (
        tool_pb2.InvokeRequest(call=call),
        tool_pb2.InvokeResponse(event={"result": {"payload": struct}}),
        event_pb2.ToolResultEvent(error={"details": struct}),
        event_pb2.PlanEvent(plan={"items": [{"input": struct}]}),
        hook_pb2.DispatchHookRequest(payload={"pre_tool_call": {"call": call}}),
    ):
        type(message).FromString(message.SerializeToString())
    with pytest.raises(ValueError, match="more than 32 levels"):
        to_struct(nested(MAX_DEPTH + 1))


def test_a_cycle_is_refused_as_too_deep() -> None:
    cycle: dict[str, Any] = {}
    cycle["again"] = cycle
    with pytest.raises(ValueError, match=r"^(again\.)+again: more than 32 levels"):
        to_struct(cycle)


def test_an_empty_object_filled_in_place_counts_as_set() -> None:
    response = tool_pb2.InvokeResponse()
    fill_struct(response.event.result.payload, {})
    received = tool_pb2.InvokeResponse.FromString(response.SerializeToString())
    assert received.event.HasField("result")
    assert received.event.result.HasField("payload")


def test_a_path_reads_as_people_write_one() -> None:
    assert path_text(("edits", 2, "path")) == "edits[2].path"
    assert path_text(()) == ""
