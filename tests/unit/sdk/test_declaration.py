"""What an author's functions declare, and what is refused when their module is imported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from pluggableharness.sdk import (
    Context,
    DeclarationError,
    Doc,
    Ge,
    Le,
    MaxLength,
    MinLength,
    Pattern,
    Provider,
)
from pluggableharness.sdk.schemas import schema_of
from pluggableharness.wire.schema_pb2 import Schema, SchemaType

OBJECT = SchemaType.SCHEMA_TYPE_OBJECT
STRING = SchemaType.SCHEMA_TYPE_STRING
NUMBER = SchemaType.SCHEMA_TYPE_NUMBER
BOOLEAN = SchemaType.SCHEMA_TYPE_BOOLEAN
ARRAY = SchemaType.SCHEMA_TYPE_ARRAY


@dataclass(frozen=True, slots=True)
class Edit:
    old: Annotated[str, Doc("What stands there")]
    new: str = ""


class Span(TypedDict):
    start: int
    end: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Done:
    path: Annotated[str, Doc("Where it was done")]
    count: int
    ratio: float
    note: str | None
    tags: tuple[str, ...] = ()
    extra: Mapping[str, Any] | None = None


@pytest.fixture
def provider():
    return Provider("sample", version="1")


def declared(provider):
    @provider.data_source()
    async def sample(
        ctx: Context[None],
        path: Annotated[str, Doc("A file")],
        mode: Literal["fast", "slow"],
        edits: list[Edit],
        first: Annotated[int, Ge(1), Le(9), Doc("The first line")] = 1,
        last: Annotated[int | None, Ge(1)] = None,
        ratio: float = 0.5,
        all_of_them: bool = False,
        names: Annotated[Sequence[Annotated[str, MinLength(2)]], MaxLength(5)] = (),
        span: Span | None = None,
        headers: dict[str, str] | None = None,
        anything: dict[str, Any] | None = None,
        code: Annotated[str, Pattern("^[a-z]+$")] = "a",
    ) -> Done:
        """Do a sample thing.

        On several lines.
        """
        return Done(path, 1, 0.5, None)

    return sample


@pytest.mark.req("P1", "P6", "P32")
def test_the_input_schema_is_derived_from_the_parameters(provider):
    schema = schema_of(declared(provider).arguments)
    edit = Schema(
        type=OBJECT,
        properties={
            "old": Schema(type=STRING, description="What stands there"),
            "new": Schema(type=STRING),
        },
        required=["old"],
    )
    span = Schema(
        type=OBJECT,
        properties={
            "start": Schema(type=NUMBER, description="whole number"),
            "end": Schema(type=NUMBER, description="whole number"),
        },
        required=["start"],
    )
    assert schema == Schema(
        type=OBJECT,
        properties={
            "path": Schema(type=STRING, description="A file"),
            "mode": Schema(type=STRING, enum_values=["fast", "slow"]),
            "edits": Schema(type=ARRAY, items=edit),
            "first": Schema(
                type=NUMBER, description="The first line (whole number, at least 1, at most 9)"
            ),
            "last": Schema(type=NUMBER, description="whole number, at least 1"),
            "ratio": Schema(type=NUMBER),
            "all_of_them": Schema(type=BOOLEAN),
            "names": Schema(
                type=ARRAY,
                description="at most 5 items",
                items=Schema(type=STRING, description="at least 2 characters"),
            ),
            "span": span,
            "headers": Schema(type=OBJECT),
            "anything": Schema(type=OBJECT),
            "code": Schema(type=STRING, description="matching ^[a-z]+$"),
        },
        required=["path", "mode", "edits"],
    )


@pytest.mark.req("P1", "P6", "P32")
def test_the_output_schema_requires_what_can_never_be_left_out(provider):
    schema = schema_of(declared(provider).result)
    assert schema.required == ["path", "count", "ratio", "tags"]
    assert set(schema.properties) == {"path", "count", "ratio", "note", "tags", "extra"}
    assert schema.properties["path"].description == "Where it was done"


@pytest.mark.req("P1")
def test_the_description_is_the_docstring_without_its_indentation(provider):
    assert declared(provider).description == "Do a sample thing.\n\nOn several lines."


@pytest.mark.req("P5")
def test_a_resource_is_exclusive_and_a_data_source_safe_unless_declared_otherwise(provider):
    @provider.data_source()
    async def reading(ctx: Context[None]) -> Done:
        """Read."""

    @provider.resource(risk="low")
    async def writing(ctx: Context[None]) -> Done:
        """Write."""

    @provider.interactive()
    async def asking(ctx: Context[None]) -> Done:
        """Ask."""

    assert reading.traits.safe
    assert not writing.traits.safe
    assert list(provider.operations) == ["reading", "writing", "asking"]


def test_an_operation_can_have_another_name_than_its_function(provider):
    @provider.data_source(name="other-name_2")
    async def original(ctx: Context[None]) -> Done:
        """Read."""

    assert original.name == "other-name_2"
    assert provider.operations == {"other-name_2": original}


async def test_an_operation_can_still_be_called_as_the_function_that_it_is(provider):
    @provider.data_source()
    async def double(ctx: Context[None], number: int) -> dict[str, Any]:
        """Double."""
        return {"number": 2 * number}

    assert await double(None, 3) == {"number": 6}


def problems(provider, function, **traits):
    """Declare a resource and return what was refused."""
    with pytest.raises(DeclarationError) as refused:
        provider.resource(**{"risk": "low", **traits})(function)
    assert str(refused.value).startswith("operation ")
    assert not provider.operations
    return refused.value.problems


@pytest.mark.req("P2")
def test_every_mistake_of_a_declaration_is_told_at_once(provider):
    def broken(ctx, a, b: bytes, *c: int, **d: str):
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
def test_a_resource_has_one_of_four_risks(provider, risk):
    async def write(ctx: Context[None]) -> Done:
        """Write."""

    (problem,) = problems(provider, write, risk=risk)
    assert "a resource has one of low, moderate, high, critical" in problem


@pytest.mark.req("P2")
@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_default_timeout_is_a_positive_number_of_seconds(provider, seconds):
    async def write(ctx: Context[None]) -> Done:
        """Write."""

    (problem,) = problems(provider, write, default_timeout=seconds)
    assert problem.startswith("its default_timeout is")


@pytest.mark.req("P3")
@pytest.mark.parametrize("kind", ["data_source", "interactive"])
def test_only_a_resource_can_say_that_it_ends_the_turn(provider, kind):
    with pytest.raises(TypeError, match="terminates_turn"):
        getattr(provider, kind)(terminates_turn=True)


@pytest.mark.req("P4")
@pytest.mark.parametrize("trait", [{"safe": True}, {"key_fields": ["path"]}])
def test_an_interactive_operation_cannot_declare_concurrency(provider, trait):
    with pytest.raises(TypeError, match=next(iter(trait))):
        provider.interactive(**trait)


@pytest.mark.req("P5")
def test_key_fields_name_parameters(provider):
    async def write(ctx: Context[None], path: str) -> Done:
        """Write."""

    (problem,) = problems(provider, write, safe=True, key_fields=["path", "pth"])
    assert problem == "key_fields names 'pth', which is no parameter; there are: path"


def test_a_name_is_taken_once(provider):
    declared(provider)
    with pytest.raises(DeclarationError, match="is declared twice in sample"):
        declared(provider)


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
def test_what_the_subset_cannot_say_is_refused_with_its_path(provider, annotation, problem):
    async def write(ctx: Context[None], x: annotation) -> Done:
        """Write."""

    (found,) = problems(provider, write)
    assert problem in found


@dataclass
class Bare:
    maybe: int | None


@pytest.mark.req("P6")
def test_a_field_of_an_argument_that_may_be_none_needs_a_default(provider):
    async def write(ctx: Context[None], x: Bare) -> Done:
        """Write."""

    (found,) = problems(provider, write)
    assert found == "x.maybe may be None, so it needs a default (NotRequired in a TypedDict)"


@pytest.mark.req("P6")
@pytest.mark.parametrize("result", [str, list[str], Done | None, int, None])
def test_a_result_is_an_object(provider, result):
    async def write(ctx: Context[None]) -> result:
        """Write."""

    (found,) = problems(provider, write)
    assert "result" in found


@pytest.mark.req("P2")
def test_an_annotation_that_names_nothing_is_refused(provider):
    async def write(ctx: Context[None], x: "Missing") -> Done:  # noqa: F821
        """Write."""

    (found,) = problems(provider, write)
    assert found == "has annotations that cannot be read: name 'Missing' is not defined"


@pytest.mark.req("P2")
def test_the_first_parameter_is_the_context(provider):
    async def without() -> Done:
        """Write."""

    async def other(path: str) -> Done:
        """Write."""

    assert problems(provider, without)[0].startswith("takes no parameters, expected the context")
    assert problems(provider, other)[0].startswith("takes 'path' first, expected the context")


@pytest.mark.req("P29", "P30")
def test_a_preview_is_async_and_a_render_is_not(provider):
    operation = declared(provider)

    def plain(*anything: object) -> None: ...

    async def waiting(*anything: object) -> None: ...

    with pytest.raises(DeclarationError, match="the preview of 'sample'"):
        operation.preview(plain)
    with pytest.raises(DeclarationError, match="the render of 'sample'"):
        operation.render(waiting)


@pytest.mark.parametrize("name", ["", "a.b", "a b", "x" * 65])
def test_a_providers_name_is_one_that_an_address_can_hold(name):
    with pytest.raises(DeclarationError, match="its name may hold 1 to 64 letters"):
        Provider(name)


def test_a_providers_version_is_that_of_its_distribution():
    assert Provider("a", version="2.5").version == "2.5"
    ours = Provider("b")
    ours.module = "pluggableharness.providers.filesystem"
    assert ours.version == "0.1.0"
    installed = Provider("c")
    installed.module = "_pytest.main"
    assert installed.version == pytest.__version__
    nowhere = Provider("d")
    nowhere.module = "no_such_package"
    assert nowhere.version == "0.0.0"


Path = Annotated[str, Doc("Some file")]


def test_the_outermost_description_is_the_one_that_counts(provider):
    @provider.data_source()
    async def read(
        ctx: Context[None],
        a: Path,
        b: Annotated[Path, Doc("This file")],
        c: Annotated[Path | None, Doc("That file")] = None,
    ) -> Done:
        """Read."""

    described = {name: shape.description for name, shape in read.arguments.properties.items()}
    assert described == {"a": "Some file", "b": "This file", "c": "That file"}
