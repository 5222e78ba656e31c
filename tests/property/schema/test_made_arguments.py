"""The arguments that a check makes are what they are made for, whatever the schema."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.plugins.checking.arguments import invalid, valid, worst
from pluggableharness.kernel.schema import violations

NAMES = st.text("abc", min_size=1, max_size=2)
LEAVES = st.one_of(
    st.builds(Schema, st.sampled_from([SchemaType.NUMBER, SchemaType.BOOLEAN])),
    st.builds(
        Schema,
        st.just(SchemaType.STRING),
        enum_values=st.lists(NAMES, max_size=2, unique=True).map(tuple),
    ),
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(NAMES, inner, max_size=3))
    required = draw(
        st.lists(st.sampled_from(sorted(properties)), unique=True) if properties else st.just([])
    )
    return Schema(SchemaType.OBJECT, properties=properties, required=tuple(required))


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        objects(inner), st.builds(Schema, st.just(SchemaType.ARRAY), items=inner)
    ),
    max_leaves=8,
)


@pytest.mark.req("P33")
@given(objects(SCHEMAS))
def test_valid_ones_conform_and_the_others_do_not(schema: Schema) -> None:
    assert violations(schema, valid(schema), closed=True) == ()
    wrong = [*invalid(schema), *worst(schema)]
    assert all(violations(schema, arguments, closed=True) for _, arguments in wrong)
    # An object that declares nothing is an open map: nothing is wrong with any.
    assert bool(wrong) is bool(schema.properties)
