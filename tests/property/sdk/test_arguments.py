"""What msgspec decides and what we explain are the same thing."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.sdk import Context, Ge, InvalidArguments, Lt, MaxLength, Pattern, Provider
from pluggableharness.sdk.arguments import violations, without_nulls

provider = Provider("sample", version="1")


@dataclass(frozen=True)
class Inner:
    text: str
    count: Annotated[int, Ge(0)] = 0


@provider.data_source()
async def flat(
    ctx: Context[None],
    text: Annotated[str, MaxLength(3)],
    whole: Annotated[int, Ge(1), Lt(5)] = 1,
    number: Annotated[float, Ge(0)] | None = None,
    flag: bool = False,
    mode: Literal["a", "b"] = "a",
    numbers: Annotated[list[Annotated[float, Lt(3)]], MaxLength(2)] = [],  # noqa: B006
    texts: dict[str, Annotated[str, Pattern("^a")]] = {},  # noqa: B006
    anything: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Take everything that needs no walk."""
    return {}


@provider.data_source()
async def nested(
    ctx: Context[None],
    one: Inner,
    many: list[Inner] = [],  # noqa: B006
    keyed: dict[str, Inner] = {},  # noqa: B006
) -> dict[str, Any]:
    """Take what does."""
    return {}


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 6)
    | st.sampled_from([0.0, 0.5, 2.0, 4.5, 1e300])
    | st.sampled_from(["", "a", "b", "ab", "abcd", "5", "true"])
)
inner = st.dictionaries(st.sampled_from(["text", "count", "other"]), scalars)
values = scalars | st.lists(scalars | inner, max_size=3) | inner


def objects(operation: Any) -> Any:
    names = [*operation.arguments.properties, "unknown"]
    return st.dictionaries(st.sampled_from(names), values)


@pytest.mark.req("P8", "P6")
@given(st.sampled_from([flat, nested]).flatmap(lambda op: st.tuples(st.just(op), objects(op))))
def test_arguments_are_refused_exactly_when_there_is_something_to_say(case: Any) -> None:
    operation, arguments = case
    said = list(violations(operation.arguments, without_nulls(operation.arguments, arguments), ""))
    if said:
        with pytest.raises(InvalidArguments) as refused:
            operation.read(arguments)
        assert refused.value.details == {"violations": said}
    else:
        assert operation.read(arguments).keys() == operation.arguments.properties.keys()
