"""A provider's declaration is believed only when it keeps every rule (P1-P6)."""

from collections.abc import Callable

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import settings as no_deadline
from hypothesis import strategies as st

from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.plugins.contract import Contract, check_contract
from pluggableharness.wire import config_pb2, schema_pb2, tool_pb2

OBJECT = schema_pb2.SCHEMA_TYPE_OBJECT
STRING = schema_pb2.SCHEMA_TYPE_STRING
ARRAY = schema_pb2.SCHEMA_TYPE_ARRAY
Edit = Callable[[tool_pb2.ToolSchema], object]


def good(name: str = "write") -> tool_pb2.ToolSchema:
    raw = tool_pb2.ToolSchema(
        name=name,
        kind=tool_pb2.TOOL_KIND_RESOURCE,
        risk=tool_pb2.RISK_CLASS_LOW,
        description="Writes.",
        concurrency=tool_pb2.ConcurrencySpec(safe=True, key_fields=["path"]),
    )
    raw.input_schema.type = OBJECT
    raw.input_schema.properties["path"].type = STRING
    raw.output_schema.type = OBJECT
    return raw


def check(*tools: tool_pb2.ToolSchema) -> Contract:
    return check_contract("demo", tool_pb2.GetSchemaResponse(tools=tools))


def changed(*edits: Edit) -> tool_pb2.ToolSchema:
    raw = good()
    for edit in edits:
        edit(raw)
    return raw


def put(**values: object) -> Callable[[Message], None]:
    def edit(raw: Message) -> None:
        for name, value in values.items():
            setattr(raw, name, value)

    return edit


def nested(depth: int) -> Edit:
    def edit(raw: tool_pb2.ToolSchema) -> None:
        node = raw.output_schema
        for _ in range(depth - 1):
            node = node.properties["in"]
            node.type = OBJECT

    return edit


def interactive(raw: tool_pb2.ToolSchema) -> None:
    raw.kind, raw.risk = tool_pb2.TOOL_KIND_INTERACTIVE, tool_pb2.RISK_CLASS_READ_ONLY


def data_source(raw: tool_pb2.ToolSchema) -> None:
    raw.kind, raw.risk = tool_pb2.TOOL_KIND_DATA_SOURCE, tool_pb2.RISK_CLASS_READ_ONLY


def in_output(edit: Callable[[schema_pb2.Schema], object]) -> Edit:
    return lambda raw: edit(raw.output_schema.properties["x"])


@pytest.mark.req("P1")
def test_a_declaration_that_keeps_the_rules_becomes_operations() -> None:
    contract = check(good("a"), good("b"))
    assert [operation.full_name for operation in contract.operations] == ["demo.a", "demo.b"]
    assert contract.violations == ()
    assert contract.warnings == ()


@pytest.mark.req("P1", "P2", "P3", "P5", "P6")
@pytest.mark.parametrize(
    ("edits", "field", "value"),
    [
        ([put(name="")], "name", "''"),
        ([put(name="a" * 65)], "name", "aaaa"),
        ([put(name="read file")], "name", "read file"),
        ([put(name="lösche")], "name", "lösche"),
        ([put(name="a\n")], "name", "\\n"),
        ([put(kind=0)], "kind", "TOOL_KIND_UNSPECIFIED"),
        ([put(kind=17)], "kind", "17"),
        ([put(risk=0)], "risk", "RISK_CLASS_UNSPECIFIED"),
        ([put(risk=17)], "risk", "17"),
        ([put(risk=tool_pb2.RISK_CLASS_READ_ONLY)], "risk", "read_only"),
        ([data_source, put(risk=tool_pb2.RISK_CLASS_LOW)], "risk", "low"),
        ([interactive, put(risk=tool_pb2.RISK_CLASS_CRITICAL)], "risk", "critical"),
        ([put(description="")], "description", "''"),
        ([put(description=" \n ")], "description", "n"),
        ([lambda raw: raw.ClearField("output_schema")], "output_schema", "absent"),
        ([lambda raw: raw.output_schema.Clear()], "output_schema.type", "UNSPECIFIED"),
        ([lambda raw: put(type=STRING)(raw.output_schema)], "output_schema", "string"),
        ([in_output(put(type=0))], "output_schema.properties.x.type", "UNSPECIFIED"),
        ([in_output(put(type=9))], "output_schema.properties.x.type", "9"),
        ([in_output(put(type=ARRAY))], "output_schema.properties.x.items", "missing"),
        (
            [in_output(put(type=STRING)), in_output(lambda x: put(type=STRING)(x.items))],
            "output_schema.properties.x.items",
            "string",
        ),
        (
            [in_output(put(type=ARRAY)), in_output(lambda x: put(type=0)(x.items))],
            "output_schema.properties.x.items.type",
            "UNSPECIFIED",
        ),
        (
            [in_output(put(type=OBJECT)), in_output(lambda x: x.enum_values.append("a"))],
            "output_schema.properties.x.enum_values",
            "object",
        ),
        (
            [in_output(put(type=STRING)), in_output(lambda x: put(type=1)(x.properties["y"]))],
            "output_schema.properties.x.properties",
            "string",
        ),
        ([lambda raw: raw.input_schema.required.append("pth")], "input_schema.required", "pth"),
        ([nested(33)], "output_schema.properties", "33"),
        ([lambda raw: raw.concurrency.key_fields.append("x")], "concurrency.key_fields", "x"),
        ([lambda raw: raw.default_timeout.CopyFrom(Duration())], "default_timeout", "0 s"),
        ([lambda raw: raw.default_timeout.CopyFrom(Duration(seconds=-1))], "default_timeout", "-1"),
        ([data_source, put(terminates_turn=True)], "terminates_turn", "true"),
        ([interactive, put(terminates_turn=True)], "terminates_turn", "true"),
    ],
)
def test_each_broken_rule_is_told_with_operation_field_and_value(
    edits: list[Edit], field: str, value: str
) -> None:
    contract = check(changed(*edits))
    assert contract.operations == ()
    [violation] = contract.violations
    assert violation.field.startswith(field)
    assert value in violation.value
    assert violation.rule
    assert violation.field == "name" or violation.operation == "write"


@pytest.mark.req("P6")
def test_thirty_two_levels_are_not_too_deep() -> None:
    assert check(changed(nested(32))).violations == ()


@pytest.mark.req("P1", "P2")
def test_two_operations_of_one_name_are_a_violation_of_each() -> None:
    contract = check(good("a"), good("b"), good("a"))
    assert [violation.operation for violation in contract.violations] == ["a", "a"]


@pytest.mark.req("P2")
def test_every_violation_of_every_operation_is_told_at_once() -> None:
    empty = check(tool_pb2.ToolSchema(), changed(put(risk=0), put(description="")))
    told = [(violation.operation, violation.field) for violation in empty.violations]
    assert told == [
        ("#1", "name"),
        ("#1", "kind"),
        ("#1", "risk"),
        ("#1", "description"),
        ("#1", "input_schema"),
        ("#1", "output_schema"),
        ("write", "risk"),
        ("write", "description"),
    ]


@pytest.mark.req("P2", "P6")
def test_a_missing_type_does_not_hide_what_else_is_wrong_in_the_schema() -> None:
    contract = check(
        changed(in_output(put(type=0)), lambda raw: raw.output_schema.required.append("nowhere"))
    )
    assert [violation.field for violation in contract.violations] == [
        "output_schema.properties.x.type",
        "output_schema.required",
    ]


@pytest.mark.req("P4")
def test_concurrency_of_an_interactive_operation_is_one_warning_and_nothing_else() -> None:
    contract = check(changed(interactive, lambda raw: raw.concurrency.key_fields.append("nope")))
    assert contract.violations == ()
    assert len(contract.warnings) == 1 and "ignored" in contract.warnings[0]
    [operation] = contract.operations
    assert operation.kind is Kind.INTERACTIVE and operation.concurrency is None


@pytest.mark.req("P5")
def test_keys_without_safe_are_a_warning() -> None:
    contract = check(changed(lambda raw: put(safe=False)(raw.concurrency)))
    assert contract.violations == ()
    assert len(contract.warnings) == 1 and "no effect" in contract.warnings[0]


@pytest.mark.req("P5")
def test_a_wrong_key_is_a_violation_even_where_keys_have_no_effect() -> None:
    contract = check(
        changed(
            lambda raw: put(safe=False)(raw.concurrency),
            lambda raw: raw.concurrency.key_fields.append("nope"),
        )
    )
    assert [violation.field for violation in contract.violations] == ["concurrency.key_fields"]


def settings(*attributes: config_pb2.ConfigAttribute) -> Contract:
    declared = tool_pb2.GetSchemaResponse(
        tools=[good()], config_schema=config_pb2.ConfigSchema(attributes=attributes)
    )
    return check_contract("demo", declared)


@pytest.mark.req("P28")
def test_settings_are_part_of_the_contract() -> None:
    text = config_pb2.ATTR_TYPE_STRING
    inner = config_pb2.ConfigAttribute(name="", type=text)
    contract = settings(
        config_pb2.ConfigAttribute(name="a", type=text, default_json='"x"'),
        config_pb2.ConfigAttribute(name="a", type=text),
        config_pb2.ConfigAttribute(name="b"),
        config_pb2.ConfigAttribute(name="c", type=text, default_json="{"),
        config_pb2.ConfigAttribute(name="d", type=text, default_json="5"),
        config_pb2.ConfigAttribute(name="e", type=text, object_attributes=[inner]),
    )
    assert [violation.field for violation in contract.violations] == [
        "a.name",
        "a.name",
        "b.type",
        "c.default_json",
        "d.default_json",
        "e.object_attributes",
        "e.#1.name",
    ]
    assert {violation.operation for violation in contract.violations} == {"ConfigSchema"}


@pytest.mark.req("P2")
@no_deadline(deadline=None)
@given(st.binary(max_size=200))
def test_no_declaration_at_all_upsets_the_check(data: bytes) -> None:
    raw = tool_pb2.ToolSchema()
    try:
        raw.ParseFromString(data)
    except Exception:
        raw.name = data.hex()
    check(raw, good())
