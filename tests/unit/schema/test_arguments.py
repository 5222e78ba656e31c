"""Argument text is JSON or it is refused, and only nulls are ever taken away."""

import pytest

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.schema import Violation, parse_arguments, violations, without_nulls

STRING = Schema(SchemaType.STRING)
NUMBER = Schema(SchemaType.NUMBER)
READ_FILE = Schema(
    SchemaType.OBJECT, properties={"path": STRING, "start_line": NUMBER}, required=("path",)
)


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        (
            ' {"a": 1, "b": [true, null, -0.5, "\\u00e9"]} \n',
            {"a": 1, "b": [True, None, -0.5, "é"]},
        ),
        ('{"a": {"x": 1}, "b": {"x": 2}}', {"a": {"x": 1}, "b": {"x": 2}}),
        ('{"a": 9007199254740992, "b": 3.0}', {"a": 2**53, "b": 3.0}),
    ],
)
def test_a_json_object_is_taken_as_written(text: str, value: object) -> None:
    assert parse_arguments(text) == value


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"command": "ls"', "ends too early"),
        ("", "got nothing"),
        (" \n", "got nothing"),
        ("null", "got null"),
        ("[]", "got an array of 0"),
        ('"ls"', 'got the string "ls"'),
        ("5", "got the number 5"),
        ('{"a":1,"a":2}', '"a" twice'),
        ('{"x": {"a":1,"b":2,"a":1}}', '"a" twice'),
        ('\ufeff{"a":1}', "byte order mark"),
        ('{"a":1,}', "not JSON"),
        ("{'a':1}", "not JSON"),
        ('{"a":1} {"b":2}', "not JSON"),
        ('{"a":01}', "not JSON"),
        ('{"a":"line\nbreak"}', "not JSON"),
    ],
)
def test_what_is_no_json_object_is_refused_and_said_why(text: str, says: str) -> None:
    """Case policy-and-schema-20: broken text must never become an empty object."""
    refused = parse_arguments(text)
    assert isinstance(refused, Violation)
    assert says in str(refused)


@pytest.mark.req("P6", "P8")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_no_double_holds_are_refused(number: str) -> None:
    """Case policy-and-schema-17: Python's json takes all of these."""
    assert isinstance(parse_arguments(f'{{"x": [{number}]}}'), Violation)


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        '{"a": -' + "9" * 5000 + "}",
        '{"a": "' + "x" * 100_000,
    ],
)
def test_text_made_to_break_a_parser_is_refused_without_an_exception(text: str) -> None:
    """Case policy-and-schema-21: deep nesting and huge integers raise inside json."""
    refused = parse_arguments(text)
    assert isinstance(refused, Violation)
    assert len(str(refused)) < 300


@pytest.mark.req("P6", "P8")
def test_a_slightly_too_large_integer_is_refused_with_its_path() -> None:
    arguments = parse_arguments('{"path": "a", "start_line": 9007199254740993}')
    assert not isinstance(arguments, Violation)
    [found] = violations(READ_FILE, arguments)
    assert (found.path, found.got) == ("start_line", "the number 9007199254740993")


@pytest.mark.req("P8")
def test_a_null_for_an_option_counts_as_not_given() -> None:
    """Case policy-and-schema-19."""
    assert without_nulls(READ_FILE, {"path": "a", "start_line": None}) == {"path": "a"}


@pytest.mark.req("P8")
@pytest.mark.parametrize("arguments", [{"path": None}, {}])
def test_a_null_for_a_required_property_is_a_missing_one(arguments: dict[str, None]) -> None:
    """Case policy-and-schema-19: both read "required"."""
    [found] = violations(READ_FILE, without_nulls(READ_FILE, arguments))
    assert (found.path, found.expected) == ("path", "a string (required)")


@pytest.mark.req("P8")
def test_nulls_go_at_every_declared_level_and_nowhere_else() -> None:
    inner = Schema(SchemaType.OBJECT, properties={"a": NUMBER, "b": NUMBER}, required=("b",))
    schema = Schema(
        SchemaType.OBJECT,
        properties={
            "one": inner,
            "many": Schema(SchemaType.ARRAY, items=inner),
            "map": Schema(SchemaType.OBJECT),
        },
    )
    given: JsonObject = {
        "one": {"a": None, "b": None},
        "many": [{"a": None, "b": 1}, None, {"b": 2}],
        "map": {"x": None},
        "unknown": None,
    }
    assert without_nulls(schema, given) == {
        "one": {"b": None},
        "many": [{"b": 1}, None, {"b": 2}],
        "map": {"x": None},
        "unknown": None,
    }
    assert given["one"] == {"a": None, "b": None}


def test_arguments_without_such_nulls_are_not_copied() -> None:
    arguments: JsonObject = {"path": "a", "start_line": 1}
    assert without_nulls(READ_FILE, arguments) is arguments
