"""A schema keeps to the subset, or every breach is named."""

import pytest

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.schema import declaration_problems, nearest_first
from pluggableharness.kernel.schema.nearest import close

STRING = Schema(SchemaType.STRING)


def nested(levels: int, kind: SchemaType) -> Schema:
    schema = STRING
    for _ in range(levels):
        if kind is SchemaType.OBJECT:
            schema = Schema(kind, properties={"a": schema})
        else:
            schema = Schema(kind, items=schema)
    return schema


@pytest.mark.req("P6", "P2")
def test_every_breach_is_listed_with_its_place_value_and_rule() -> None:
    schema = Schema(
        SchemaType.OBJECT,
        properties={
            "list": Schema(SchemaType.ARRAY),
            "number": Schema(SchemaType.NUMBER, enum_values=("1",)),
            "text": Schema(SchemaType.STRING, items=STRING, properties={"x": STRING}),
            "inner": Schema(SchemaType.ARRAY, items=Schema(SchemaType.OBJECT, required=("y",))),
        },
        required=("lst",),
    )
    assert {str(problem) for problem in declaration_problems(schema)} == {
        'required: "lst": required names only declared properties (nearest: "list")',
        "properties.list.items: missing: an array says what its items are",
        "properties.number.enum_values: number: only a string has choices",
        "properties.text.items: string: only an array has items",
        "properties.text.properties: string: only an object has properties",
        'properties.inner.items.required: "y": required names only declared properties',
    }


@pytest.mark.req("P6")
@pytest.mark.parametrize("kind", [SchemaType.OBJECT, SchemaType.ARRAY])
def test_nesting_ends_at_thirty_two(kind: SchemaType) -> None:
    def rooted(levels: int) -> Schema:
        return Schema(SchemaType.OBJECT, properties={"a": nested(levels - 1, kind)})

    assert not declaration_problems(rooted(32))
    [problem] = declaration_problems(rooted(33))
    assert problem.rule == "schemas nest at most 32 deep"
    assert len(declaration_problems(rooted(500))) == 1


@pytest.mark.req("P1", "P6")
def test_the_root_is_an_object() -> None:
    [problem] = declaration_problems(STRING)
    assert problem.rule == "the root is an object"


@pytest.mark.req("P6")
def test_a_sound_schema_has_no_problem() -> None:
    choice = Schema(SchemaType.STRING, enum_values=("a", "b"))
    schema = Schema(
        SchemaType.OBJECT,
        properties={
            "choice": choice,
            "map": Schema(SchemaType.OBJECT),
            "list": nested(2, SchemaType.ARRAY),
        },
        required=("choice",),
    )
    assert not declaration_problems(schema)


def test_the_exported_schema_is_ordinary_json_schema() -> None:
    item = Schema(SchemaType.OBJECT, properties={"name": STRING}, required=("name", "name"))
    schema = Schema(
        SchemaType.OBJECT,
        description="All of it.",
        properties={
            "items": Schema(SchemaType.ARRAY, items=item),
            "mode": Schema(SchemaType.STRING, enum_values=("a", "a", "b")),
            "map": Schema(SchemaType.OBJECT),
        },
    )
    assert to_json_schema(schema) == {
        "type": "object",
        "description": "All of it.",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "additionalProperties": False,
                    "required": ["name"],
                },
            },
            "mode": {"type": "string", "enum": ["a", "b"]},
            "map": {"type": "object"},
        },
        "additionalProperties": False,
    }
    assert "additionalProperties" not in to_json_schema(schema, closed=False)


@pytest.mark.req("K3")
def test_names_are_ordered_by_what_was_probably_meant() -> None:
    names = ["grep", "read_file", "write_file", "bash"]
    assert nearest_first("read", names)[0] == "read_file"
    assert nearest_first("wirte_file", names)[0] == "write_file"
    assert nearest_first("Bash", names)[0] == "bash"
    assert sorted(nearest_first("x", names)) == sorted(names)


def test_only_what_may_be_a_slip_is_close() -> None:
    names = ["/help", "/tools", "/policy"]
    assert [close(word, names) for word in ("/polcy", "/tool", "/HELP")] == [
        "/policy",
        "/tools",
        "/help",
    ]
    assert close("/nonsense", names) is None
    assert close("anything", []) is None
