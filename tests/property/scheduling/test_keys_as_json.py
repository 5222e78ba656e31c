"""Keys are equal exactly when the values are equal as JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.scheduling.keys import _canonical

SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, 1.0, 0.0, -0.0, 2.5])
    | st.sampled_from("01ab")
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


def same_json(one: Json, other: Json) -> bool:
    """Equality by the book: type by type."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[n], other[n]) for n in one)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return type(one) is type(other) and one == other


@pytest.mark.req("P21")
@given(VALUES, VALUES)
def test_keys_compare_as_json(one: Json, other: Json) -> None:
    assert (_canonical(one) == _canonical(other)) == same_json(one, other)
    if same_json(one, other):
        assert hash(_canonical(one)) == hash(_canonical(other))
