"""What a function returns, and what it may not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from pluggableharness.sdk import Context, Provider, ResultMismatch
from pluggableharness.sdk.testing import opened


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    line: int
    before: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    hits: list[Hit]
    total: int
    ratio: float = 1.0
    mode: Literal["all", "some"] = "all"
    exact: bool = True
    first: Hit | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    anything: dict[str, Any] | None = None


class Row(TypedDict):
    name: str
    age: NotRequired[int]


# The same, taking what their types forbid.
FOUND: Any = Found
HIT: Any = Hit


async def returned(annotation: Any, value: Any) -> Any:
    """Return the payload of an operation that is declared so and returns that."""
    provider = Provider("sample", version="1")

    async def give(ctx: Context[None]) -> annotation:
        """Give."""
        return value

    provider.data_source()(give)
    async with opened(provider) as tool:
        return (await tool("give")).payload


@pytest.mark.req("P12", "P32")
async def test_a_dataclass_becomes_an_object_without_what_is_none() -> None:
    value = Found([Hit("a", 1, ("x",)), Hit("b", 2, note="n")], 2, sizes={"a": 3})
    assert await returned(Found, value) == {
        "hits": [
            {"path": "a", "line": 1, "before": ["x"]},
            {"path": "b", "line": 2, "before": [], "note": "n"},
        ],
        "total": 2,
        "ratio": 1,
        "mode": "all",
        "exact": True,
        "sizes": {"a": 3},
    }


@pytest.mark.req("P12")
async def test_a_typed_dict_may_hold_more_than_it_declares() -> None:
    assert await returned(Row, {"name": "a", "more": [1]}) == {"name": "a", "more": [1]}
    assert await returned(Row, {"name": "a", "age": None}) == {"name": "a"}


async def test_an_open_map_is_returned_as_it_is() -> None:
    value = {"a": {"b": [None, 1.5]}}
    assert await returned(dict[str, Any], value) == value


@pytest.mark.req("P12")
@pytest.mark.parametrize(
    ("annotation", "value", "problem"),
    [
        (Found, FOUND([], "2"), 'total: expected a whole number, got "2"'),
        (Found, FOUND([], 2.5), "total: expected a whole number, got 2.5"),
        (Found, FOUND([], True), "total: expected a whole number, got true"),
        (Found, FOUND([], None), "total: is declared, and it is None or missing"),
        (Found, FOUND([], 1, ratio="x"), 'ratio: expected a number, got "x"'),
        (Found, FOUND([], 1, mode="most"), 'mode: expected one of "all", "some", got "most"'),
        (Found, FOUND([], 1, exact=1), "exact: expected true or false, got 1"),
        (Found, FOUND([HIT("a", 1), HIT("b", "x")], 1), "hits[1].line: expected a whole number"),
        (Found, FOUND([HIT("a", 1, (b"x",))], 1), "hits[0].before[0]: expected a string"),
        (Found, FOUND("ab", 1), 'hits: expected a list, got "ab"'),
        (Found, FOUND([{"path": "a", "line": 1}], 1), "hits[0]: expected Hit, got {"),
        (Found, FOUND([], 1, sizes={"a": "b"}), 'sizes: expected a whole number, got "b"'),
        (Found, FOUND([], 1, sizes=[1]), "sizes: expected an object, got [1]"),
        (Found, {"hits": [], "total": 0}, "expected Found, got {"),
        (Row, {"age": 1}, "name: is declared, and it is None or missing"),
        (Row, [], "expected an object, got []"),
        (dict[str, Any], "text", 'expected an object, got "text"'),
        (dict[str, Any], None, "expected an object, got null"),
    ],
    ids=str,
)
async def test_a_result_that_was_not_declared_is_told_to_the_author(
    annotation: Any, value: Any, problem: Any
) -> None:
    with pytest.raises(ResultMismatch) as told:
        await returned(annotation, value)
    assert str(told.value).startswith(f"give returned what it does not declare: {problem}")


@pytest.mark.req("P6")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**53 + 1], ids=str)
async def test_a_number_that_the_wire_would_change_is_told_with_its_path(number: Any) -> None:
    with pytest.raises(ValueError, match=r"^a\.b: "):
        await returned(dict[str, Any], {"a": {"b": number}})
