"""Whether what a provider declares keeps the contract (P1-P6), before anything is believed.

Pure, over the raw answer to GetSchema: nothing is repaired on the way in, and everything
that is wrong is told at once (P2). How a schema may look is `kernel.schema`'s rule.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from pluggableharness.kernel.codec.schema import SCHEMA_TYPES, schema_from_wire
from pluggableharness.kernel.codec.settings import SETTING_TYPES, setting_from_wire
from pluggableharness.kernel.codec.tool import KINDS, RISKS, operation_from_wire
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.quoting import LONGEST_NAME, bounded, in_quotes
from pluggableharness.kernel.domain.settings import Setting, SettingType
from pluggableharness.kernel.schema import declaration_problems
from pluggableharness.kernel.schema.settings import setting_problems
from pluggableharness.wire import config_pb2, schema_pb2, tool_pb2

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_Broken = Iterator[tuple[str, str, str]]
"""Field, value, rule."""


@dataclass(frozen=True, slots=True)
class ContractViolation:
    """One broken rule: whose, in which field, what stands there, what must hold (P2).

    `operation` is "#2" for the second declaration when that has no name.
    """

    operation: str
    field: str
    value: str
    rule: str

    def __str__(self) -> str:
        """The violation as one line."""
        return f"{self.operation}: {self.field} is {self.value}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Contract:
    """What a provider's declaration comes to.

    `operations` and `settings` are empty when there are violations. `warnings` are things
    that have no effect (P4, P5), each a sentence for the provider's author.
    """

    operations: tuple[Operation, ...]
    settings: tuple[Setting, ...]
    violations: tuple[ContractViolation, ...]
    warnings: tuple[str, ...]


def check_contract(provider: str, declared: tool_pb2.GetSchemaResponse) -> Contract:
    """Hold a provider's answer to GetSchema against the whole contract (P1-P6, F5)."""
    names = Counter(raw.name for raw in declared.tools)
    violations = tuple(
        ContractViolation(raw.name or f"#{number}", field, value, rule)
        for number, raw in enumerate(declared.tools, 1)
        for field, value, rule in _tool_problems(raw, names)
    ) + tuple(
        ContractViolation("ConfigSchema", field, value, rule)
        for field, value, rule in _settings_problems(declared.config_schema.attributes, "")
    )
    warnings = tuple(line for raw in declared.tools for line in _warnings(raw))
    if violations:
        return Contract((), (), violations, warnings)
    return Contract(
        tuple(operation_from_wire(provider, raw) for raw in declared.tools),
        tuple(setting_from_wire(raw) for raw in declared.config_schema.attributes),
        (),
        warnings,
    )


def _tool_problems(raw: tool_pb2.ToolSchema, names: Mapping[str, int]) -> _Broken:
    yield from _name_problems(raw.name, names)
    yield from _kind_problems(raw)
    if not raw.description.strip():
        yield "description", repr(raw.description), "the model and the person need one"
    yield from _schema_problems(raw, "input_schema")
    yield from _schema_problems(raw, "output_schema")
    yield from _key_problems(raw)
    yield from _timeout_problems(raw)


def _name_problems(name: str, names: Mapping[str, int]) -> _Broken:
    if not _NAME.fullmatch(name):
        yield "name", in_quotes(name), "1 to 64 of the letters, digits, _ and - of ASCII"
    if names[name] > 1:
        yield "name", in_quotes(name), f"unique within the provider; {names[name]} have it"


def _kind_problems(raw: tool_pb2.ToolSchema) -> _Broken:
    kind, risk = KINDS.get(raw.kind), RISKS.get(raw.risk)
    if kind is None:
        yield "kind", _member(tool_pb2.ToolKind, raw.kind), "resource, data_source or interactive"
    if risk is None:
        rule = "low, moderate, high or critical for a resource, else read_only"
        yield "risk", _member(tool_pb2.RiskClass, raw.risk), rule
    elif kind is Kind.RESOURCE and risk is Risk.READ_ONLY:
        yield "risk", "read_only", "a resource is low, moderate, high or critical"
    elif kind not in (None, Kind.RESOURCE) and risk is not Risk.READ_ONLY:
        yield "risk", risk.value, "what is not a resource is read_only"
    if raw.terminates_turn and kind is not Kind.RESOURCE:
        yield "terminates_turn", "true", "only a resource ends the turn"


def _schema_problems(raw: tool_pb2.ToolSchema, field: str) -> _Broken:
    if not raw.HasField(field):
        yield field, "absent", "present, with an object at its root"
        return
    # A copy: for the rules about the rest of the tree, nodes without a type are given one.
    schema = schema_pb2.Schema()
    schema.CopyFrom(getattr(raw, field))
    yield from _type_problems(schema, field)
    for problem in declaration_problems(schema_from_wire(schema)):
        yield ".".join(filter(None, (field, problem.path))), problem.value, problem.rule


def _type_problems(node: schema_pb2.Schema, path: str) -> _Broken:
    if node.type not in SCHEMA_TYPES:
        value = _member(schema_pb2.SchemaType, node.type)
        yield f"{path}.type", value, "object, string, number, boolean or array"
        node.type = _likely_type(node, path)
    for name in sorted(node.properties):
        yield from _type_problems(
            node.properties[name], f"{path}.properties.{bounded(name, LONGEST_NAME)}"
        )
    if node.HasField("items"):
        yield from _type_problems(node.items, f"{path}.items")


def _likely_type(node: schema_pb2.Schema, path: str) -> schema_pb2.SchemaType:
    """The type that adds no second violation about the same oversight."""
    if node.properties or node.required or "." not in path:
        return schema_pb2.SCHEMA_TYPE_OBJECT
    if node.HasField("items"):
        return schema_pb2.SCHEMA_TYPE_ARRAY
    return schema_pb2.SCHEMA_TYPE_STRING


def _key_problems(raw: tool_pb2.ToolSchema) -> _Broken:
    if raw.kind == tool_pb2.TOOL_KIND_INTERACTIVE:
        return
    for key in raw.concurrency.key_fields:
        if key not in raw.input_schema.properties:
            yield "concurrency.key_fields", in_quotes(key), "a field of the own input schema"


def _timeout_problems(raw: tool_pb2.ToolSchema) -> _Broken:
    timeout = raw.default_timeout
    if raw.HasField("default_timeout") and timeout.seconds * 10**9 + timeout.nanos <= 0:
        yield "default_timeout", f"{timeout.seconds + timeout.nanos / 1e9:g} s", "positive"


def _warnings(raw: tool_pb2.ToolSchema) -> Iterator[str]:
    if not raw.HasField("concurrency"):
        return
    if raw.kind == tool_pb2.TOOL_KIND_INTERACTIVE:
        yield f"{raw.name}: concurrency is ignored, interactive calls run one by one"
    elif raw.concurrency.key_fields and not raw.concurrency.safe:
        yield f"{raw.name}: key_fields have no effect without safe"


def _settings_problems(raws: Sequence[config_pb2.ConfigAttribute], path: str) -> _Broken:
    names = Counter(raw.name for raw in raws)
    for number, raw in enumerate(raws, 1):
        where = f"{path}{bounded(raw.name, LONGEST_NAME) or f'#{number}'}"
        if not raw.name or names[raw.name] > 1:
            yield f"{where}.name", in_quotes(raw.name), "present and unique"
        yield from _setting_type_problems(raw, where)
        yield from _settings_problems(raw.object_attributes, f"{where}.")


def _setting_type_problems(raw: config_pb2.ConfigAttribute, where: str) -> _Broken:
    kind = SETTING_TYPES.get(raw.type)
    if kind is None:
        expected = ", ".join(member.value for member in SettingType)
        yield f"{where}.type", _member(config_pb2.AttrType, raw.type), expected
    elif raw.object_attributes and kind is not SettingType.OBJECT:
        yield f"{where}.object_attributes", kind.value, "only an object has attributes"
    elif raw.HasField("default_json"):
        yield from _default_problems(raw, kind, where)


def _default_problems(raw: config_pb2.ConfigAttribute, kind: SettingType, where: str) -> _Broken:
    try:
        default = json.loads(raw.default_json)
    except (ValueError, RecursionError):
        yield f"{where}.default_json", in_quotes(raw.default_json), "JSON"
        return
    for problem in setting_problems([Setting(raw.name, kind)], {raw.name: default}):
        yield f"{where}.default_json", in_quotes(raw.default_json), problem.message


def _member(wire: EnumTypeWrapper, number: int) -> str:
    """The name of an enum's member, or the number when this contract has none for it."""
    return {value: name for name, value in wire.items()}.get(number, str(number))
