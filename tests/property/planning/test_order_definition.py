"""The order within a message against its definition, on random messages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.planning import waits_for
from pluggableharness.kernel.scheduling import subject

OPERATIONS = [
    operation("exclusive"),
    operation("other_exclusive", provider="exec"),
    operation("free", safe=True),
    operation("write", safe=True, keys=("path",)),
    operation("edit", safe=True, keys=("path",)),
]
MESSAGES = st.lists(
    st.builds(
        lambda of, path: call(of, path=path), st.sampled_from(OPERATIONS), st.sampled_from("ab")
    ),
    max_size=12,
)


def must_wait(earlier: Call, later: Call) -> bool:
    """K13a, pair by pair."""
    if not earlier.operation.safe or not later.operation.safe:
        return True
    return subject(earlier) is not None and subject(earlier) == subject(later)


@pytest.mark.req("K13a")
@given(MESSAGES)
def test_the_waits_are_exactly_the_definitions_and_none_is_repeated(calls: list[Call]) -> None:
    waits = waits_for(calls)
    reach: list[set[int]] = []
    for direct in waits:
        reach.append(set(direct).union(*(reach[index] for index in direct)))
    wanted: list[set[int]] = []
    for index, later in enumerate(calls):
        pairs = {i for i in range(index) if must_wait(calls[i], later)}
        wanted.append(pairs.union(*(wanted[i] for i in pairs)))
    assert reach == wanted
    for direct in waits:
        for index in direct:
            others = [other for other in direct if other != index]
            assert not any(index in reach[other] for other in others)


NAME = st.text(alphabet="ab_-", min_size=1, max_size=6) | st.text(
    alphabet="ab_", min_size=60, max_size=64
)


@pytest.mark.req("K3")
@given(st.tuples(NAME, NAME), st.tuples(NAME, NAME))
def test_vendor_names_are_legal_and_never_shared(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    names = {vendor_name(operation(name, provider=provider)) for provider, name in (one, other)}
    assert len(names) == len({one, other})
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in names)
