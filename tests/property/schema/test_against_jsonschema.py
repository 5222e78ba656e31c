"""Our checks against a real JSON Schema validator, on random schemas and values."""

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.schema import (
    Violation,
    declaration_problems,
    parse_arguments,
    violations,
    without_nulls,
)

NAMES = st.sampled_from(["a", "b", "c", "path", "ключ", "odd name", ""])
WORDS = st.sampled_from(["", "x", "y", "é", "5", "true"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(NAMES, inner, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(properties)), max_size=2)) if properties else []
    return Schema(SchemaType.OBJECT, properties=properties, required=tuple(required))


LEAVES = st.sampled_from([Schema(SchemaType.NUMBER), Schema(SchemaType.BOOLEAN)]) | st.builds(
    Schema, st.just(SchemaType.STRING), enum_values=st.lists(WORDS, max_size=2).map(tuple)
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: objects(inner) | st.builds(Schema, st.just(SchemaType.ARRAY), items=inner),
    max_leaves=8,
)


def fitting(schema: Schema) -> st.SearchStrategy[object]:
    """Values of the schema, so that acceptance is tried as often as refusal."""
    match schema.type:
        case SchemaType.STRING:
            return st.sampled_from(schema.enum_values) if schema.enum_values else WORDS
        case SchemaType.NUMBER:
            return st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
        case SchemaType.BOOLEAN:
            return st.booleans()
        case SchemaType.ARRAY:
            assert schema.items is not None
            return st.lists(fitting(schema.items), max_size=3)
        case SchemaType.OBJECT:
            if not schema.properties:
                return st.dictionaries(NAMES, VALUES, max_size=3)
            given_names = {name: fitting(inner) for name, inner in schema.properties.items()}
            optional = {n: s for n, s in given_names.items() if n not in schema.required}
            required = {n: s for n, s in given_names.items() if n in schema.required}
            return st.fixed_dictionaries(required, optional=optional)


@st.composite
def schemas_with_values(draw: st.DrawFn) -> tuple[Schema, object]:
    schema = draw(SCHEMAS)
    return schema, draw(fitting(schema) | VALUES)


@pytest.mark.req("P6", "P8", "P12")
@given(schemas_with_values(), st.booleans())
def test_a_real_validator_agrees(pair: tuple[Schema, object], closed: bool) -> None:
    schema, value = pair
    oracle = jsonschema_rs.validator_for(to_json_schema(schema, closed=closed))
    assert (not violations(schema, value, closed=closed)) == oracle.is_valid(value)


@pytest.mark.req("P6")
@given(SCHEMAS.flatmap(lambda schema: st.tuples(st.just(schema), fitting(schema))))
def test_what_fits_is_accepted(pair: tuple[Schema, object]) -> None:
    schema, value = pair
    assert not violations(schema, value)


@pytest.mark.req("P6")
@given(st.dictionaries(NAMES, SCHEMAS, max_size=4))
def test_the_generated_schemas_keep_to_the_subset(properties: dict[str, Schema]) -> None:
    assert not declaration_problems(Schema(SchemaType.OBJECT, properties=properties))


@pytest.mark.req("P8")
@given(schemas_with_values(), st.data())
def test_dropping_nulls_never_makes_a_fitting_value_unfit(
    pair: tuple[Schema, object], data: st.DataObject
) -> None:
    schema, value = pair
    if schema.type is not SchemaType.OBJECT or not isinstance(value, dict):
        return
    options = [name for name in schema.properties if name not in schema.required]
    nulled = {
        **value,
        **dict.fromkeys(data.draw(st.sets(st.sampled_from(options))) if options else (), None),
    }
    pruned = without_nulls(schema, nulled)
    assert not any(pruned.get(name, 0) is None for name in options)
    if not violations(schema, value):
        assert not violations(schema, pruned)
    assert without_nulls(schema, pruned) == pruned


@pytest.mark.req("P8")
@given(st.text() | st.text(alphabet='{}[]":,0123456789.eE+-truefalsn \\u\ud800\ufeff'))
def test_any_text_is_an_object_or_a_violation(text: str) -> None:
    parsed = parse_arguments(text)
    assert isinstance(parsed, dict | Violation)
    str(parsed)


@pytest.mark.req("P6", "P12")
@given(
    st.recursive(
        SCALARS
        | st.floats()
        | st.integers()
        | st.text()
        | st.binary()
        | st.characters(categories=["Cs"]),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    ),
    SCHEMAS,
    st.booleans(),
)
def test_any_python_value_is_judged_without_an_exception(
    value: object, schema: Schema, closed: bool
) -> None:
    for violation in violations(schema, value, closed=closed):
        str(violation).encode()
