"""What makes two calls the same call for the lock table."""

import pytest

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import (
    Concurrency,
    Kind,
    Operation,
    Risk,
    Schema,
    SchemaType,
)
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.scheduling import call_key, lock_request, subject

OPEN = Schema(SchemaType.OBJECT)
BY_PATH = Concurrency(safe=True, key_fields=("path",))


def call(
    arguments: JsonObject,
    *,
    name: str = "write_file",
    provider: str = "filesystem",
    concurrency: Concurrency | None = BY_PATH,
) -> Call:
    operation = Operation(
        provider, name, Kind.RESOURCE, Risk.LOW, "d", OPEN, OPEN, concurrency=concurrency
    )
    return Call("c1", operation, arguments, CallContext("s", "t", "/w"))


@pytest.mark.req("P21")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        ({"a": 1, "b": [1.0]}, {"b": [1], "a": 1.0}),
        ("x", "x"),
        (None, None),
        (True, True),
        ([], []),
    ],
)
def test_values_that_are_equal_as_json_make_one_key(one: object, other: object) -> None:
    assert call_key(call({"path": one})) == call_key(call({"path": other}))  # type: ignore[dict-item]
    assert hash(call_key(call({"path": one}))) == hash(call_key(call({"path": other})))  # type: ignore[dict-item]


@pytest.mark.req("P21")
def test_values_that_differ_as_json_make_different_keys() -> None:
    values: list[JsonObject] = [
        {},
        {"path": None},
        {"path": True},
        {"path": False},
        {"path": 1},
        {"path": 0},
        {"path": "1"},
        {"path": "true"},
        {"path": ""},
        {"path": [1]},
        {"path": [True]},
        {"path": []},
        {"path": {}},
        {"path": [["a", 1]]},
        {"path": {"a": 1}},
        {"path": {"a": True}},
        {"path": {"a": None}},
        {"path": "./a"},
        {"path": "a"},
    ]
    assert len({call_key(call(arguments)) for arguments in values}) == len(values)


@pytest.mark.req("P21")
def test_only_the_key_fields_count_and_operation_and_provider_do() -> None:
    assert call_key(call({"path": "a", "x": 1})) == call_key(call({"path": "a", "x": 2}))
    assert call_key(call({"path": "a"})) != call_key(call({"path": "a"}, name="edit_file"))
    assert call_key(call({"path": "a"})) != call_key(call({"path": "a"}, provider="other"))


@pytest.mark.req("K13a")
def test_the_subject_is_the_same_across_the_operations_of_a_provider() -> None:
    assert subject(call({"path": "a"})) == subject(call({"path": "a"}, name="edit_file"))
    assert subject(call({"path": "a"})) != subject(call({"path": "b"}))
    assert subject(call({"path": "a"})) != subject(call({"path": "a"}, provider="other"))
    assert subject(call({"path": "a"}, concurrency=Concurrency(safe=True))) is None


@pytest.mark.req("P19", "P20", "P21")
def test_the_request_says_what_the_declaration_says() -> None:
    exclusive = lock_request(call({"path": "a"}, concurrency=None))
    assert (exclusive.exclusive, exclusive.key) == (True, None)
    unsafe = Concurrency(safe=False, key_fields=("path",))
    assert lock_request(call({"path": "a"}, concurrency=unsafe)).exclusive
    assert lock_request(call({"path": "a"}, concurrency=unsafe)).key is None
    safe = lock_request(call({"path": "a"}, concurrency=Concurrency(safe=True)))
    assert (safe.exclusive, safe.key) == (False, None)
    keyed = lock_request(call({"path": "a"}), frozenset({"above"}))
    assert (keyed.exclusive, keyed.owner, set(keyed.ancestors)) == (False, "c1", {"above"})
    assert keyed.key == call_key(call({"path": "a"}))
