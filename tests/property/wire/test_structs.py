"""Any JSON object survives the wire, or is refused."""

from typing import Any

from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.wire.structs import MAX_EXACT_INTEGER, from_struct, to_struct

numbers = st.integers(-MAX_EXACT_INTEGER, MAX_EXACT_INTEGER) | st.floats(-1e15, 1e15)
texts = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@given(st.dictionaries(texts, json_values))
def test_an_object_of_json_values_comes_back_equal(value: Any) -> None:
    sent = Struct.FromString(to_struct(value).SerializeToString())
    assert from_struct(sent) == value


@given(st.dictionaries(texts, anything))
def test_anything_else_is_refused_and_never_changed(value: Any) -> None:
    try:
        struct = to_struct(value)
    except ValueError:
        return
    assert from_struct(struct) == value
