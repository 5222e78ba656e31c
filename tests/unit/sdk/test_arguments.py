"""Arguments, checked by the author's types before the function runs."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from pluggableharness.sdk import Category, Context, Ge, Lt, MinLength, Pattern, Provider
from pluggableharness.sdk.testing import opened

provider = Provider("sample", version="1")
ran: list[dict[str, Any]] = []


@dataclass(frozen=True, slots=True)
class Edit:
    old: Annotated[str, MinLength(1)]
    times: int = 1


@dataclass(frozen=True)
class Ordered:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


@provider.data_source()
async def read(
    ctx: Context[None],
    path: str,
    start_line: Annotated[int | None, Ge(1)] = None,
    ratio: Annotated[float, Ge(0), Lt(1)] = 0.5,
    everything: bool = False,
    mode: Literal["fast", "slow"] = "fast",
    edits: list[Edit] = [],  # noqa: B006  # what an author may well write
    headers: dict[str, str] | None = None,
    open_map: dict[str, Any] | None = None,
    code: Annotated[str, Pattern("^[a-z]+$")] = "a",
    order: Ordered | None = None,
) -> dict[str, Any]:
    """Read."""
    given = {name: value for name, value in locals().items() if name != "ctx"}
    ran.append(given)
    return {}


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


async def refused(**arguments: Any) -> Any:
    async with opened(provider) as tool:
        error = (await tool("read", **arguments)).failure
    assert error.category is Category.INVALID_ARGUMENTS
    assert not ran
    assert error.details is not None
    assert error.message == "; ".join(error.details["violations"])
    return error.details["violations"]


async def accepted(**arguments: Any) -> Any:
    async with opened(provider) as tool:
        assert (await tool("read", **arguments)).error is None
    return ran[-1]


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"start_line": "5"}, 'start_line: expected a whole number, at least 1, got "5"'),
        ({"start_line": 5.5}, "start_line: expected a whole number, at least 1, got 5.5"),
        ({"start_line": 0}, "start_line: expected a whole number, at least 1, got 0"),
        ({"start_line": True}, "start_line: expected a whole number, at least 1, got true"),
        ({"ratio": 1}, "ratio: expected a number, at least 0, below 1, got 1"),
        ({"ratio": "NaN"}, 'ratio: expected a number, at least 0, below 1, got "NaN"'),
        ({"ratio": -1}, "ratio: expected a number, at least 0, below 1, got -1"),
        ({"everything": "false"}, 'everything: expected true or false, got "false"'),
        ({"everything": 0}, "everything: expected true or false, got 0"),
        ({"mode": "quick"}, 'mode: expected one of "fast", "slow", got "quick"'),
        ({"edits": '["a"]'}, 'edits: expected a list, got "[\\"a\\"]"'),
        (
            {"edits": [{"old": ""}]},
            'edits[0].old: expected a string, at least 1 character, got ""',
        ),
        (
            {"edits": [{"old": "a", "times": 1.5}]},
            "edits[0].times: expected a whole number, got 1.5",
        ),
        ({"edits": [{}]}, "edits[0].old: is required, and it is missing"),
        ({"edits": [{"old": "a", "tims": 2}]}, "edits[0].tims: is unknown; did you mean times?"),
        ({"headers": {"a": 1}}, "headers.a: expected a string, got 1"),
        ({"headers": []}, "headers: expected an object, got []"),
        ({"code": "A"}, 'code: expected a string, matching ^[a-z]+$, got "A"'),
        ({"pth": "b"}, "pth: is unknown; did you mean path?"),
        ({"order": {"low": 2, "high": 1}}, "low is above high - at `$.order`"),
        ({"code": "A" * 500}, f'code: expected a string, matching ^[a-z]+$, got "{"A" * 79}… (502'),
    ],
    ids=repr,
)
async def test_a_bad_field_is_named_with_what_was_expected_and_what_came(
    argument: Any, message: Any
) -> None:
    """Cases policy-and-schema-17 and 18: ranges, and values of another type that look right."""
    (violation,) = await refused(path="a", **argument)
    assert violation.startswith(message)


@pytest.mark.req("P8")
async def test_every_bad_field_is_named_at_once() -> None:
    found = await refused(start_line="5", mode=1)
    assert len(found) == 3
    assert "path: is required, and it is missing" in found


@pytest.mark.req("P8")
async def test_a_whole_number_may_come_as_a_double() -> None:
    given = await accepted(path="a", start_line=5.0)
    assert type(given["start_line"]) is int


@pytest.mark.req("P8")
async def test_a_null_for_an_optional_argument_means_that_it_is_not_given() -> None:
    """Case policy-and-schema-19, first part."""
    given = await accepted(path="a", start_line=None, ratio=None, edits=[{"old": "a"}])
    assert given["start_line"] is None
    assert given["ratio"] == 0.5


@pytest.mark.req("P8")
async def test_a_null_for_a_required_argument_is_refused() -> None:
    """Case policy-and-schema-19, second part."""
    assert await refused(path=None) == ["path: expected a string, got null"]
    assert await refused() == ["path: is required, and it is missing"]


@pytest.mark.req("P32")
async def test_nested_objects_arrive_as_the_authors_own_types() -> None:
    given = await accepted(path="a", edits=[{"old": "x"}], order={"low": 1, "high": 2})
    assert given["edits"] == [Edit("x")]
    assert given["order"] == Ordered(1, 2)


@pytest.mark.req("P6")
async def test_an_open_map_holds_anything() -> None:
    value = {"a": [1, {"b": None}], "c": True}
    assert (await accepted(path="a", open_map=value))["open_map"] == value


async def test_a_parameter_that_may_be_none_needs_no_default() -> Any:
    tool_provider = Provider("other", version="1")

    @tool_provider.data_source()
    async def show(ctx: Context[None], limit: int | None, *, name: str = "x") -> dict[str, Any]:
        """Show."""
        return {"limit": str(limit), "name": name}

    async with opened(tool_provider) as tool:
        assert (await tool("show")).payload == {"limit": "None", "name": "x"}
        assert (await tool("show", limit=3, name="y")).payload == {"limit": "3", "name": "y"}


@pytest.mark.req("P8")
async def test_an_operation_that_the_provider_does_not_have_is_not_found() -> None:
    async with opened(provider) as tool:
        error = (await tool("raed")).failure
    assert error.category is Category.NOT_FOUND
    assert error.message == "sample has no operation 'raed'; it has: read"


async def test_an_operation_without_parameters_refuses_any_argument() -> Any:
    tool_provider = Provider("other", version="1")

    @tool_provider.data_source()
    async def show(ctx: Context[None]) -> dict[str, Any]:
        """Show."""
        return {}

    async with opened(tool_provider) as tool:
        assert (await tool("show")).payload == {}
        assert (await tool("show", a=1)).failure.message == "a: is unknown; known are none at all"


def test_settings_take_lists_by_default_factory() -> None:
    """A dataclass is the author's own; nothing of it is rewritten."""

    @dataclass
    class Settings:
        roots: list[str] = field(default_factory=list)

    assert Provider("other", settings=Settings).settings.read({}) == Settings([])
