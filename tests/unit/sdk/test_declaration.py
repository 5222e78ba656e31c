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
from pluggableharness.sdk.operation import Operation
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
def provider() -> Provider[None]:
    return Provider("sample", version="1")


def declared(provider: Provider[None]) -> Operation[..., Done]:
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
def test_the_input_schema_is_derived_from_the_parameters(provider: Provider[None]) -> None:
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
def test_the_output_schema_requires_what_can_never_be_left_out(provider: Provider[None]) -> None:
    schema = schema_of(declared(provider).result)
    assert schema.required == ["path", "count", "ratio", "tags"]
    assert set(schema.properties) == {"path", "count", "ratio", "note", "tags", "extra"}
    assert schema.properties["path"].description == "Where it was done"


@pytest.mark.req("P1")
def test_the_description_is_the_docstring_without_its_indentation(provider: Provider[None]) -> None:
    assert declared(provider).description == "Do a sample thing.\n\nOn several lines."


@pytest.mark.req("P5")
def test_a_resource_is_exclusive_and_a_data_source_safe_unless_declared_otherwise(
    provider: Provider[None],
) -> None:
    @provider.data_source()
    async def reading(ctx: Context[None]) -> dict[str, Any]:
        """Read."""
        return {}

    @provider.resource(risk="low")
    async def writing(ctx: Context[None]) -> dict[str, Any]:
        """Write."""
        return {}

    @provider.interactive()
    async def asking(ctx: Context[None]) -> dict[str, Any]:
        """Ask."""
        return {}

    assert reading.traits.safe
    assert not writing.traits.safe
    assert list(provider.operations) == ["reading", "writing", "asking"]


def test_an_operation_can_have_another_name_than_its_function(provider: Provider[None]) -> None:
    @provider.data_source(name="other-name_2")
    async def original(ctx: Context[None]) -> dict[str, Any]:
        """Read."""
        return {}

    assert original.name == "other-name_2"
    assert provider.operations == {"other-name_2": original}


async def test_an_operation_can_still_be_called_as_the_function_that_it_is(
    provider: Provider[None],
) -> None:
    @provider.data_source()
    async def double(ctx: Context[None], number: int) -> dict[str, Any]:
        """Double."""
        return {"number": 2 * number}

    unused: Any = None
    assert await double(unused, 3) == {"number": 6}


@pytest.mark.req("P29", "P30")
def test_a_preview_is_async_and_a_render_is_not(provider: Provider[None]) -> None:
    operation: Any = declared(provider)  # whose types refuse both

    def plain(*anything: object) -> None: ...

    async def waiting(*anything: object) -> None: ...

    operation.preview(plain)
    operation.render(waiting)
    with pytest.raises(DeclarationError, match=r"its preview is not.*\n.*its render is async"):
        provider.check()


@pytest.mark.parametrize("name", ["", "a.b", "a b", "x" * 65])
def test_a_providers_name_is_one_that_an_address_can_hold(name: Any) -> None:
    with pytest.raises(DeclarationError, match="its name may hold 1 to 64 letters"):
        Provider(name).check()


def test_a_providers_version_is_that_of_its_distribution() -> None:
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


def test_the_outermost_description_is_the_one_that_counts(provider: Provider[None]) -> None:
    @provider.data_source()
    async def read(
        ctx: Context[None],
        a: Path,
        b: Annotated[Path, Doc("This file")],
        c: Annotated[Path | None, Doc("That file")] = None,
    ) -> dict[str, Any]:
        """Read."""
        return {}

    described = {name: shape.description for name, shape in read.arguments.properties.items()}
    assert described == {"a": "Some file", "b": "This file", "c": "That file"}
