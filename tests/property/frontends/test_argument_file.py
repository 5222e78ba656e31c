"""Arguments as a file for an editor, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.argument_file import as_file, from_file, headed, same
from pluggableharness.kernel.frontends.text import escaped

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text("ab'\"\\\n\t\r #=\u202e", max_size=30),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.floats(0.1, 0.9)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.mark.req("K10")
@given(ARGUMENTS, st.lists(TEXTS, max_size=2))
def test_arguments_come_back_as_they_were_and_nothing_in_the_file_hides(
    arguments: JsonObject, remarks: list[str]
) -> None:
    file = headed(as_file(arguments), *remarks)
    assert same(from_file(file), arguments)
    assert escaped(file.replace("\n", " ").replace("\t", " ")) is None
    assert same(from_file(headed(file, "another remark")), arguments)


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "file",
    ["a = 1990-01-01", "a = nan", "a = [inf]", "a", "a = [", "a = " + "[" * 5000, "a = 1\na = 2"]
    + [f"{'a.' * levels}a = 1" for levels in (200, 500, 900, 3000)],
)
def test_what_gives_no_arguments_is_an_error_like_any(file: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        from_file(file)


@pytest.mark.req("K10")
@pytest.mark.parametrize("value", [None, [None], {"b": None}, "\ud800"])
def test_what_a_file_cannot_hold_is_left_to_a_line(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        as_file({"a": value})  # type: ignore[dict-item]
