"""Declarations that break a rule, and what their author is told of all of them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest

from pluggableharness.sdk import Context, DeclarationError, Ge, MinLength, Pattern, Provider
from pluggableharness.sdk.testing import opened


@dataclass
class Done:
    path: str


async def write(ctx: Context[None]) -> Done:
    """Write."""
    return Done("")


@pytest.fixture
def provider() -> Provider[None]:
    return Provider("sample", version="1")


def refused(provider: Provider[Any]) -> tuple[str, ...]:
    """What is wrong with a provider."""
    with pytest.raises(DeclarationError) as error:
        provider.operations  # noqa: B018
    assert str(error.value).startswith(f"provider '{provider.name}' is declared wrongly:\n  ")
    return error.value.problems


def problems(provider: Provider[None], function: Any, **traits: Any) -> tuple[str, ...]:
    """Declare a resource and return what was wrong with it."""
    name = provider.resource(**{"risk": "low", **traits})(function).name
    start, found = f"operation {name!r}: ", refused(provider)
    assert all(problem.startswith(start) for problem in found)
    return tuple(problem.removeprefix(start) for problem in found)


@pytest.mark.req("P2")
def test_every_mistake_of_a_declaration_is_told_at_once(provider: Provider[None]) -> None:
    def broken(ctx, a, b: bytes, *c: int, **d: str):  # type: ignore[no-untyped-def]
        pass

    found = problems(provider, broken, name="no spaces", risk="read_only", key_fields=["z"])
    assert found == (
        "its name may hold 1 to 64 letters, digits, '_' and '-' and nothing else",
        "has no docstring; the model and the person at the gate read it",
        "its risk is 'read_only'; a resource has one of low, moderate, high, critical",
        "key_fields have no effect without safe=True",
        "is not an async function; put blocking work in asyncio.to_thread",
        "a has no type",
        "b is bytes; JSON has no bytes, so decide on a text form",
        "c cannot be passed by name; arguments are an object's fields",
        "d cannot be passed by name; arguments are an object's fields",
        "has no return type; declare a dataclass, a TypedDict or dict[str, Any]",
        "key_fields names 'z', which is no parameter; there are: none",
    )


@pytest.mark.req("P2")
@pytest.mark.parametrize("risk", ["", "unspecified", "LOW", "read_only"])
def test_a_resource_has_one_of_four_risks(provider: Provider[None], risk: Any) -> None:
    (problem,) = problems(provider, write, risk=risk)
    assert "a resource has one of low, moderate, high, critical" in problem


@pytest.mark.req("P2")
@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_default_timeout_is_a_positive_number_of_seconds(
    provider: Provider[None], seconds: Any
) -> None:
    (problem,) = problems(provider, write, default_timeout=seconds)
    assert problem.startswith("its default_timeout is")


@pytest.mark.req("P3")
@pytest.mark.parametrize("kind", ["data_source", "interactive"])
def test_only_a_resource_can_say_that_it_ends_the_turn(provider: Provider[None], kind: Any) -> None:
    with pytest.raises(TypeError, match="terminates_turn"):
        getattr(provider, kind)(terminates_turn=True)


@pytest.mark.req("P4")
@pytest.mark.parametrize("trait", [{"safe": True}, {"key_fields": ["path"]}])
def test_an_interactive_operation_cannot_declare_concurrency(
    provider: Provider[None], trait: Any
) -> None:
    with pytest.raises(TypeError, match=next(iter(trait))):
        provider.interactive(**trait)


@pytest.mark.req("P5")
def test_key_fields_name_parameters(provider: Provider[None]) -> None:
    async def write_there(ctx: Context[None], path: str) -> Done:
        """Write."""
        return Done(path)

    (problem,) = problems(provider, write_there, safe=True, key_fields=["path", "pth"])
    assert problem == "key_fields names 'pth', which is no parameter; there are: path"


def test_a_name_is_taken_once(provider: Provider[None]) -> None:
    provider.data_source()(write)
    provider.data_source()(write)
    assert refused(provider) == ("operation 'write' is declared twice",)


@dataclass
class Unfit:
    table: dict[str, int]


@pytest.mark.req("P2")
async def test_the_mistakes_of_all_declarations_are_told_together() -> None:
    provider = Provider("no name", settings=Unfit)

    @provider.data_source()
    async def one(ctx: Context[Unfit], x: complex) -> Done:
        """One."""
        return Done("")

    @provider.data_source()
    async def right(ctx: Context[Unfit]) -> Done:
        """Right."""
        return Done("")

    @provider.resource(risk="low")
    async def two(ctx: Context[Unfit], x: int) -> str:
        """Two."""
        return ""

    wrong: Any = lambda *anything: None  # noqa: E731
    two.preview(wrong)
    provider.hook("post-tool-call", mode="veto")(wrong)
    found = [problem.split(";")[0] for problem in refused(provider)]
    assert found == [
        "its name may hold 1 to 64 letters, digits, '_' and '-' and nothing else",
        "settings.table is dict[str, int]",
        "operation 'one': x is complex",
        "operation 'two': its result is no object",
        "operation 'two': its preview is not an async function",
        "hook '<lambda>': a veto comes too late there",
        "hook '<lambda>': it must be an async function",
    ]
    with pytest.raises(DeclarationError):
        async with opened(provider):
            pytest.fail("it is not opened")


@dataclass
class Endless:
    inner: "list[Endless]"


class Unshapely(TypedDict):
    code: bytes


@dataclass
class Empty:
    pass


@dataclass
class Misplaced:
    limit: Annotated[int | None, Ge(1)] = None


DEEP: Any = str
for _ in range(33):
    DEEP = list[DEEP]


@pytest.mark.req("P6")
@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (list, "x is a bare list; say what it holds: list[str]"),
        (dict, "x is a bare dict; write dict[str, Any] for an open map, a dataclass for a known"),
        (Any, "x may be anything; the subset wants one of str, int, float, bool, list, an object"),
        (list[Any], "x[] may be anything"),
        (int | str, "x is int | str; the subset has no unions but `X | None`"),
        (Literal[1, 2], "x is typing.Literal[1, 2]; only strings can be enumerated"),
        (dict[int, str], "x has keys of type int; JSON objects have strings"),
        (dict[str, bytes], "x.* is bytes"),
        (tuple[int, str], "x is tuple[int, str]; write tuple[T, ...] or list[T]"),
        (list[str | None], "x[] may not be None; leave such items out"),
        (Endless, "x.inner[] holds Endless within itself; the subset cannot say it"),
        (Unshapely, "x.code is bytes"),
        (Empty, "x is Empty, which has no fields; use dict[str, Any]"),
        (Misplaced, "its arguments cannot be checked: Can only set `ge` on a numeric type"),
        (Annotated[Literal["a"], MinLength(1)], "its arguments cannot be checked: Can only set"),
        (set[str], "x is set[str]; expected str, int, float, bool, Literal of strings"),
        (complex, "x is complex; expected str"),
        (DEEP, "is nested deeper than 32 levels"),
        (Annotated[str, Ge(1)], "x has a range, which fits a number and not a string"),
        (Annotated[bool, MinLength(1)], "x has a length, which does not fit a boolean"),
        (Annotated[int, Pattern("a")], "x has a pattern, which does not fit a number"),
    ],
    ids=str,
)
def test_what_the_subset_cannot_say_is_refused_with_its_path(
    provider: Provider[None], annotation: Any, problem: Any
) -> None:
    async def take(ctx: Context[None], x: annotation) -> Done:
        """Take."""
        return Done("")

    (found,) = problems(provider, take)
    assert problem in found


@dataclass
class Bare:
    maybe: int | None


@pytest.mark.req("P6")
def test_a_field_of_an_argument_that_may_be_none_needs_a_default(provider: Provider[None]) -> None:
    async def take(ctx: Context[None], x: Bare) -> Done:
        """Take."""
        return Done("")

    (found,) = problems(provider, take)
    assert found == "x.maybe may be None, so it needs a default (NotRequired in a TypedDict)"


@pytest.mark.req("P6")
@pytest.mark.parametrize("result", [str, list[str], Done | None, int, None])
def test_a_result_is_an_object(provider: Provider[None], result: Any) -> None:
    async def give(ctx: Context[None]) -> result:
        """Give."""
        return None

    (found,) = problems(provider, give)
    assert "result" in found


@pytest.mark.req("P2")
def test_an_annotation_that_names_nothing_is_refused(provider: Provider[None]) -> None:
    async def take(ctx: Context[None], x: "Missing") -> Done:  # type: ignore[name-defined]  # noqa: F821
        """Take."""
        return Done("")

    (found,) = problems(provider, take)
    assert found == "has annotations that cannot be read: name 'Missing' is not defined"


@pytest.mark.req("P2")
def test_the_first_parameter_is_the_context(provider: Provider[None]) -> None:
    async def without() -> Done:
        """Write."""
        return Done("")

    async def other(path: str) -> Done:
        """Write."""
        return Done(path)

    provider.data_source()(without)  # type: ignore[arg-type]
    provider.data_source()(other)  # type: ignore[arg-type]
    first, second = refused(provider)
    assert "takes no parameters, expected the context" in first
    assert "takes 'path' first, expected the context" in second
