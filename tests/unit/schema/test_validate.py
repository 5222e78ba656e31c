"""What fits a schema, what does not, and how that is said."""

import math

import pytest

from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.schema import MAX_VIOLATIONS, explain, violations

STRING = Schema(SchemaType.STRING)
NUMBER = Schema(SchemaType.NUMBER)
BOOLEAN = Schema(SchemaType.BOOLEAN)
OPEN = Schema(SchemaType.OBJECT)


def array(items: Schema) -> Schema:
    return Schema(SchemaType.ARRAY, items=items)


def closed(*required: str, **properties: Schema) -> Schema:
    return Schema(SchemaType.OBJECT, properties=properties, required=required)


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


READ_FILE = closed("path", path=STRING, start_line=NUMBER, end_line=NUMBER)


@pytest.mark.req("P8")
def test_every_bad_field_is_named_with_what_was_expected_and_what_came() -> None:
    found = violations(READ_FILE, {"start_line": "5", "end_line": True})
    assert {str(violation) for violation in found} == {
        'start_line: expected a number, written 5 without quotes, got the string "5"',
        "end_line: expected a number, got true",
        "path: expected a string (required), got nothing",
    }


@pytest.mark.req("P8")
def test_a_path_leads_through_arrays_and_odd_names_to_the_fault() -> None:
    schema = closed(items=array(Schema(SchemaType.OBJECT, properties={"a b": STRING})))
    [found] = violations(schema, {"items": [{"a b": "x"}, {"a b": 1}]})
    assert found.path == 'items[1]["a b"]'
    [found] = violations(closed(items=array(closed(name=STRING))), {"items": [{}, {"name": []}]})
    assert (found.path, found.got) == ("items[1].name", "an array of 0")


@pytest.mark.req("P6")
def test_an_unknown_property_names_the_nearest_declared_one() -> None:
    for written, meant in [("pth", "path"), ("file_path", "path"), ("startLine", "start_line")]:
        [found] = violations(READ_FILE, {"path": "a", written: 1})
        assert found.path == written
        assert f'(nearest: "{meant}")' in found.expected


@pytest.mark.req("P12")
def test_results_may_hold_undeclared_properties_that_can_travel() -> None:
    assert not violations(READ_FILE, {"path": "a", "extra": [{"x": None}]}, closed=False)
    [found] = violations(READ_FILE, {"path": "a", "extra": [{"x": math.nan}]}, closed=False)
    assert found.path == "extra[0].x"
    assert violations(READ_FILE, {"extra": 1}, closed=False)


@pytest.mark.req("P6")
def test_an_object_without_properties_is_an_open_map() -> None:
    assert not violations(OPEN, {"anything": [1, "x", None, True, {"deep": 1.5}], "": {}})


@pytest.mark.req("P6")
@pytest.mark.parametrize(
    "number",
    [math.nan, math.inf, -math.inf, 2**53 + 1, -(2**53) - 1, pytest.param(10**5000, id="huge")],
)
def test_numbers_that_cannot_travel_exactly_are_refused_everywhere(number: float) -> None:
    """Case policy-and-schema-17: NaN passes every comparison; here it passes nothing."""
    assert [v.path for v in violations(closed(x=NUMBER), {"x": number})] == ["x"]
    assert [v.path for v in violations(OPEN, {"a": [{"b": number}]})] == ["a[0].b"]
    [found] = violations(closed(x=NUMBER), {"y": number, "x": 1}, closed=False)
    assert found.path == "y"


@pytest.mark.req("P6")
@pytest.mark.parametrize("number", [0, -1, 0.5, 2**53, -(2**53), 1e308, 5e-324, 3.0])
def test_integers_and_fractions_are_numbers(number: float) -> None:
    assert not violations(closed(x=NUMBER), {"x": number})


@pytest.mark.req("P6", "P8")
def test_a_bool_is_no_number_and_a_number_no_bool() -> None:
    found = violations(closed(n=NUMBER, b=BOOLEAN), {"n": False, "b": 0})
    assert [(v.path, v.got) for v in found] == [("n", "false"), ("b", "the number 0")]


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    ("schema", "text", "hint"),
    [
        (NUMBER, "5", "written 5 without quotes"),
        (BOOLEAN, "true", "written true without quotes"),
        (BOOLEAN, "false", "written false without quotes"),
        (array(STRING), '["a"]', 'written ["a"] without quotes'),
        (OPEN, '{"a": 1}', 'written {"a": 1} without quotes'),
        (OPEN, '{"a": "' + "x" * 50 + '"}', "not text that holds one"),
    ],
)
def test_a_value_written_as_text_is_refused_with_the_right_form(
    schema: Schema, text: str, hint: str
) -> None:
    """Case policy-and-schema-18: nothing is converted, and the message shows what to write."""
    [found] = violations(closed(x=schema), {"x": text})
    assert found.expected.endswith(hint)
    assert found.got.startswith("the string ")


@pytest.mark.req("P8")
def test_ordinary_text_for_a_number_gets_no_hint() -> None:
    for text in ["", "five", "NaN", "٣", "1.2.3"]:
        [found] = violations(closed(x=NUMBER), {"x": text})
        assert found.expected == "a number"


@pytest.mark.req("P6")
def test_a_choice_must_be_one_of_the_choices() -> None:
    mode = Schema(SchemaType.STRING, enum_values=("files", "count"))
    assert not violations(closed(mode=mode), {"mode": "files"})
    [found] = violations(closed(mode=mode), {"mode": "Files"})
    assert str(found) == 'mode: expected one of "files", "count", got the string "Files"'


@pytest.mark.req("P6")
@pytest.mark.parametrize("text", ["\ud800", "ok \udfff", "é\udc80"])
def test_text_with_lone_surrogates_is_refused_as_value_and_as_name(text: str) -> None:
    assert violations(closed(x=STRING), {"x": text})
    assert violations(OPEN, {"x": [text]})
    assert violations(OPEN, {text: 1})
    assert all(v.path.isascii() or "é" in v.path for v in violations(OPEN, {text: 1}))


@pytest.mark.req("P6")
def test_thirty_two_levels_are_allowed_and_thirty_three_are_not() -> None:
    assert not violations(OPEN, nested(32))
    [found] = violations(OPEN, nested(33))
    assert found.expected == "at most 32 levels of nesting"
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert violations(OPEN, {"a": deep})
    assert violations(closed(x=NUMBER), {"y": deep}, closed=False)


@pytest.mark.req("P12")
def test_values_that_are_not_json_are_refused_without_an_exception() -> None:
    for value in [b"x", {1}, object(), {1: 2}, {None: 1}, {10**5000: 1}]:
        assert violations(OPEN, {"x": value})
    assert violations(closed(x=NUMBER), {10**5000: 1})
    assert violations(OPEN, [("a", 1)])


@pytest.mark.req("P16")
def test_a_message_stays_short_whatever_was_sent() -> None:
    huge = "x" * 1_000_000
    for value in [huge, {huge: huge}, [huge] * 1000, 10**5000]:
        for found in violations(closed(path=BOOLEAN), {"path": value, huge: 1}):
            assert len(str(found)) < 600


@pytest.mark.req("P16")
def test_control_characters_in_a_value_are_shown_not_sent_on() -> None:
    [found] = violations(closed(x=NUMBER), {"x": 'a\r\x1b[2K\u202e"\\'})
    assert found.got == r'the string "a\u000d\u001b[2K\u202e\"\\"'


def test_looking_ends_after_enough_faults() -> None:
    found = violations(closed(x=array(NUMBER)), {"x": ["no"] * 100_000})
    assert len(found) == MAX_VIOLATIONS


@pytest.mark.req("P8", "P16")
def test_the_models_message_holds_every_fault_and_what_the_operation_takes() -> None:
    operation = Operation(
        "filesystem", "read_file", Kind.DATA_SOURCE, Risk.READ_ONLY, "Reads.", READ_FILE, OPEN
    )
    message = explain(violations(READ_FILE, {"pth": "a", "end_line": "9"}), operation)
    assert message.splitlines() == [
        "filesystem.read_file did not run: its arguments do not fit its input schema.",
        '- pth: expected a declared property (nearest: "path"), got the unknown property "pth"',
        '- end_line: expected a number, written 9 without quotes, got the string "9"',
        "- path: expected a string (required), got nothing",
        "It takes path (a string), start_line (a number, optional), end_line (a number, optional).",
    ]
