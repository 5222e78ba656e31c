"""JSON schemas in the contract's subset: what is said, what is told, what travels as text (P6)."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.bridges.inward.schemas import reduced, values_of
from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.codec.schema import schema_from_wire
from pluggableharness.kernel.schema import violations
from pluggableharness.sdk.failures import InvalidArguments
from pluggableharness.sdk.schemas import schema_of


def of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def said(schema: dict[str, Any]) -> dict[str, Any]:
    """What a model is shown of a schema."""
    return dict(to_json_schema(schema_from_wire(schema_of(reduced(schema).shape))))


def member(inner: Any, **more: Any) -> dict[str, Any]:
    found: Any = said(of({"x": inner}, **more))["properties"]
    return dict(found["x"])


@pytest.mark.req("P6", "K35")
@pytest.mark.parametrize(
    "inner",
    [
        {"type": "string", "description": "A text"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "string", "enum": ["a", "b"]},
        {"type": "array", "items": {"type": "string"}},
        {
            "type": "object",
            "properties": {"a": {"type": "number"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    ],
)
def test_what_the_subset_can_say_stays_as_it_is(inner: dict[str, Any]) -> None:
    assert member(inner) == inner


@pytest.mark.req("P6", "K35")
def test_limits_and_remarks_are_told_in_the_description() -> None:
    found = member({"type": "string", "format": "uri", "maxLength": 9, "description": "Where"})
    assert found == {
        "type": "string",
        "description": 'Where (JSON Schema: {"format":"uri","maxLength":9})',
    }
    assert member({"type": "integer", "default": 3})["description"] == (
        'JSON Schema: {"default":3} (whole number)'
    )
    assert (
        "minItems"
        in member({"type": "array", "items": {"type": "string"}, "minItems": 1})["description"]
    )
    assert (
        "oneOf" in said(of({"x": {"type": "string"}}, oneOf=[{"required": ["x"]}]))["description"]
    )


@pytest.mark.req("P6", "K35")
@pytest.mark.parametrize(
    "inner",
    [
        {"anyOf": [{"type": "string"}, {"type": "number"}]},
        {"oneOf": [{"type": "string"}, {"type": "null"}], "default": "x"},
        {"type": ["string", "number"]},
        {"enum": [1, 2]},
        {"type": "number", "enum": [1, 2]},
        {"const": 7},
        {"type": "integer", "const": 7},
        {"type": "null"},
        {},
        True,
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}},
        {"$ref": "#/$defs/gone"},
        {"$ref": "https://example.com/schema"},
    ],
    ids=str,
)
def test_what_it_cannot_say_travels_as_json_text(inner: Any) -> None:
    found = member(inner)
    assert found["type"] == "string"
    assert "written as JSON" in found["description"]
    assert json.dumps(inner, separators=(",", ":")) in found["description"]
    texts = reduced(of({"x": inner})).texts
    assert values_of({"x": '{"a": [1]}', "y": "{"}, texts) == {"x": {"a": [1]}, "y": "{"}
    with pytest.raises(InvalidArguments, match="x takes a value written as JSON"):
        values_of({"x": "plain"}, texts)


@pytest.mark.req("P6", "K35")
def test_json_text_is_read_at_any_depth() -> None:
    either = {"type": ["string", "number"]}
    schema = of(
        {"list": {"type": "array", "items": of({"either": either})}, "o": of({"e": either})}
    )
    given = {"list": [{"either": "1"}, {"either": '"1"'}], "o": {"e": "2"}}
    read = values_of(given, reduced(schema).texts)
    assert read == {"list": [{"either": 1}, {"either": "1"}], "o": {"e": 2}}


@pytest.mark.req("P6", "K35")
def test_null_is_left_out_where_that_says_the_same() -> None:
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "X"}
    assert member(nullable) == {"type": "string", "description": "X"}
    assert member({"type": ["null", "string"]}) == {"type": "string"}
    assert member(nullable, required=["x"])["description"].startswith("A value written as JSON")


@pytest.mark.req("P6", "K35")
def test_an_object_that_takes_more_than_it_declares_is_an_open_map_with_its_schema_told() -> None:
    inner = of({"a": {"type": "string"}}, additionalProperties={"type": "number"})
    found = member(inner)
    assert found["type"] == "object"
    assert "properties" not in found
    assert '"additionalProperties":{"type":"number"}' in found["description"]
    assert said({"type": "object"}) == {"type": "object"}


@pytest.mark.req("P6", "K35")
def test_references_are_followed_and_end() -> None:
    definitions = {"Name": {"type": "string", "description": "A name"}}
    assert member({"$ref": "#/$defs/Name"}, **{"$defs": definitions}) == definitions["Name"]
    tree = of({"left": {"$ref": "#/$defs/Tree"}})
    found = json.dumps(member({"$ref": "#/$defs/Tree"}, **{"$defs": {"Tree": tree}}))
    assert "written as JSON" in found
    assert "$defs" in found


@pytest.mark.req("P6", "K35")
def test_deep_nesting_ends_within_what_the_contract_allows() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = of({"x": schema})
    assert json.dumps(said(schema)).count('"properties"') < 32


CLOSED = {"additionalProperties": False}
_SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "boolean"},
        {"type": ["string", "number"]},
        {"enum": ["a", "b"]},
        {"enum": [1, "a"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "string", "maxLength": 3},
    ]
)
_INNER = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda members, more: {"type": "object", "properties": members, **more},
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            st.sampled_from(
                [{"additionalProperties": True}, CLOSED, {**CLOSED, "required": ["a"]}]
            ),
        ),
    ),
    max_leaves=6,
)
_VALUES = st.recursive(
    st.sampled_from([1, True, "a", "abcd"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=5,
)


@pytest.mark.req("P6", "K35")
@given(_INNER, _VALUES)
def test_every_value_that_the_server_takes_can_be_said(inner: dict[str, Any], value: Any) -> None:
    schema = of({"x": inner})
    if not jsonschema_rs.is_valid(schema, {"x": value}):
        return
    found = reduced(schema)
    told = schema_from_wire(schema_of(found.shape))
    spoken = {"x": written(value, found.texts.get("x"))}
    assert not violations(told, spoken)
    assert values_of(spoken, found.texts) == {"x": value}


def written(value: Any, texts: Any) -> Any:
    """A value as a model has to write it."""
    if texts is True:
        return json.dumps(value)
    if isinstance(texts, dict) and isinstance(value, dict):
        return {name: written(one, texts.get(name)) for name, one in value.items()}
    if isinstance(texts, dict) and isinstance(value, list):
        return [written(one, texts.get("[]")) for one in value]
    return value
