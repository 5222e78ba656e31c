"""A provider's settings: their schema, and what Configure refuses."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from pluggableharness.sdk import (
    Category,
    Context,
    DeclarationError,
    Doc,
    Ge,
    InvalidArguments,
    Provider,
    Secret,
)
from pluggableharness.sdk.calling import Runner
from pluggableharness.sdk.testing import opened
from pluggableharness.wire.config_pb2 import AttrType, ConfigAttribute, ConfigSchema


@dataclass(frozen=True, slots=True)
class Search:
    engine: Literal["searxng", "brave"]
    key: Annotated[str | None, Secret] = None


@dataclass(frozen=True, slots=True)
class Settings:
    address: Annotated[str, Doc("Where to ask")]
    limit: Annotated[int, Ge(1)] = 10
    ratio: float = 0.5
    strict: bool = True
    roots: list[str] = field(default_factory=list)
    weights: tuple[float, ...] = (1, 2.5)
    headers: dict[str, str] = field(default_factory=lambda: {"a": "b"})
    search: Search | None = None
    token: Annotated[str, Secret, Doc("For the address")] = "default"

    def __post_init__(self) -> None:
        if self.address == self.token:
            raise ValueError(f"token: is the address, {self.token}")


@pytest.mark.req("P28")
def test_the_config_schema_is_derived_from_the_dataclass() -> None:
    provider = Provider("sample", settings=Settings)
    assert provider.settings.schema == ConfigSchema(
        attributes=[
            ConfigAttribute(
                name="address",
                type=AttrType.ATTR_TYPE_STRING,
                required=True,
                description="Where to ask",
            ),
            ConfigAttribute(name="limit", type=AttrType.ATTR_TYPE_NUMBER, default_json="10"),
            ConfigAttribute(name="ratio", type=AttrType.ATTR_TYPE_NUMBER, default_json="0.5"),
            ConfigAttribute(name="strict", type=AttrType.ATTR_TYPE_BOOL, default_json="true"),
            ConfigAttribute(name="roots", type=AttrType.ATTR_TYPE_LIST_STRING, default_json="[]"),
            ConfigAttribute(
                name="weights", type=AttrType.ATTR_TYPE_LIST_NUMBER, default_json="[1,2.5]"
            ),
            ConfigAttribute(
                name="headers", type=AttrType.ATTR_TYPE_MAP_STRING, default_json='{"a":"b"}'
            ),
            ConfigAttribute(
                name="search",
                type=AttrType.ATTR_TYPE_OBJECT,
                object_attributes=[
                    ConfigAttribute(name="engine", type=AttrType.ATTR_TYPE_STRING, required=True),
                    ConfigAttribute(name="key", type=AttrType.ATTR_TYPE_STRING, sensitive=True),
                ],
            ),
            ConfigAttribute(
                name="token",
                type=AttrType.ATTR_TYPE_STRING,
                sensitive=True,
                description="For the address",
            ),
        ]
    )


@dataclass(frozen=True, slots=True)
class Deep:
    search: Search = Search("brave")
    size: int = 1


@dataclass(frozen=True, slots=True)
class Defaults:
    plain: Search = Search("brave")
    deep: Deep = Deep()
    keyed: Search = Search("brave", "hunter2-s3cret")
    deeply: Deep = Deep(Search("brave", "hunter2-s3cret"), 2)


@pytest.mark.req("P28", "P31", "F6")
def test_a_default_is_told_without_the_secrets_in_it_or_not_at_all() -> None:
    reader = Provider("sample", settings=Defaults).settings
    assert "hunter2" not in str(reader.schema)
    told = {one.name: one.default_json for one in reader.schema.attributes}
    assert told == {
        "plain": '{"engine":"brave"}',
        "deep": '{"search":{"engine":"brave"},"size":1}',
        "keyed": "",
        "deeply": "",
    }
    given = {name: json.loads(text) for name, text in told.items() if text}
    assert reader.read(given) == Defaults()


def test_a_provider_without_settings_has_an_empty_schema_and_takes_nothing() -> None:
    settings = Provider("sample").settings
    assert settings.schema == ConfigSchema()
    assert settings.read({}) is None
    with pytest.raises(InvalidArguments, match="a: is unknown; known are none at all"):
        settings.read({"a": 1})


@pytest.mark.req("P28")
def test_settings_are_read_with_their_defaults() -> None:
    settings = Provider("sample", settings=Settings).settings
    read = settings.read({"address": "x", "limit": 5, "search": {"engine": "brave"}})
    assert read == Settings("x", 5, search=Search("brave"))


@pytest.mark.req("P28")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "address: is required, and it is missing"),
        ({"address": 1}, "address: expected a string, got 1"),
        ({"address": "x", "limit": 0}, "limit: expected a whole number, at least 1, got 0"),
        ({"address": "x", "limt": 5}, "limt: is unknown; did you mean limit?"),
        ({"address": "x", "search": {}}, "search.engine: is required, and it is missing"),
        ({"address": "x", "roots": ["a", 1]}, "roots[1]: expected a string, got 1"),
        ({"address": "x", "headers": {"a": 1}}, "headers.a: expected a string, got 1"),
        (
            {"address": 1, "strict": "yes"},
            'address: expected a string, got 1; strict: expected true or false, got "yes"',
        ),
    ],
    ids=str,
)
async def test_a_wrong_field_is_named(values: Any, message: Any) -> None:
    provider = Provider("sample", settings=Settings)
    with pytest.raises(InvalidArguments) as refused:
        async with opened(provider, settings=values):
            pass
    assert str(refused.value) == message


@pytest.mark.req("P28", "P31")
async def test_a_wrong_setting_is_named_without_the_secret() -> None:
    provider = Provider("sample", settings=Settings)
    for values in (
        {"address": "hunter2-s3cret", "token": "hunter2-s3cret"},
        {"address": "x", "token": ["hunter2-s3cret"]},
        {"address": "x", "token": ["hunter2-s3cret" * 10]},
        {"address": "x", "search": {"engine": "hunter2-s3cret", "key": "hunter2-s3cret"}},
    ):
        with pytest.raises(InvalidArguments) as refused:
            async with opened(provider, settings=values):
                pass
        assert "hunter2" not in str(refused.value)
        assert "[secret]" in str(refused.value)


class NoDataclass:
    pass


@dataclass
class Misplaced:
    limit: Annotated[int | None, Ge(1)] = None


@dataclass
class Unfit:
    good: str
    bad: dict[str, int]
    worse: list[list[str]]
    worst: dict[str, Any]


@pytest.mark.req("P28")
def test_settings_that_no_configuration_can_hold_are_refused() -> None:
    with pytest.raises(DeclarationError, match="settings NoDataclass is no dataclass"):
        Provider("sample", settings=NoDataclass).check()
    with pytest.raises(DeclarationError, match="cannot be checked: Can only set `ge`"):
        Provider("sample", settings=Misplaced).check()
    with pytest.raises(DeclarationError) as refused:
        Provider("sample", settings=Unfit).check()
    assert len(refused.value.problems) == 3
    assert all("a configuration holds" in problem for problem in refused.value.problems)


@pytest.mark.req("P28")
async def test_a_call_before_the_required_settings_came_says_what_is_missing() -> Any:
    provider = Provider("sample", settings=Settings)

    @provider.data_source()
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        """Act."""
        return {}

    async with opened(provider, settings={"address": "x"}) as tool:
        assert (await tool("act")).payload == {}
    # A host that never calls Configure leaves the runner as it starts.
    async with opened(provider, settings={"address": "x"}) as tool:
        tool._runner = Runner(provider, tool._kernel)
        error = (await tool("act")).failure
    assert error.category is Category.EXECUTION_FAILED
    assert error.message == (
        "provider sample is not configured: address: is required, and it is missing"
    )
