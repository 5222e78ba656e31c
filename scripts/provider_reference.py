"""The page docs/reference/providers.md, from what the built-in providers declare."""

import importlib
from collections.abc import Iterator

from pluggableharness.kernel.config.writing import written_value
from pluggableharness.kernel.domain.operation import Kind, Operation, Schema, SchemaType
from pluggableharness.kernel.domain.settings import Setting
from pluggableharness.kernel.first_party import NAMES
from pluggableharness.kernel.plugins.contract import check_contract
from pluggableharness.sdk.serving.messages import get_schema_response
from pluggableharness.wire import tool_pb2

_HEAD = """\
# The built-in providers

Their operations, as models and people call them, and what a `provider "NAME"` block of agent.hcl
may set. An argument in **bold** has to be given. Written by `scripts/references.py`.
"""

_SETTINGS = "| name | type | default | is |\n| --- | --- | --- | --- |\n"


def page() -> str:
    """The page."""
    return "\n".join([_HEAD, *(_provider(name) for name in NAMES)])


def _provider(name: str) -> str:
    provider = importlib.import_module(f"pluggableharness.providers.{name}.provider").provider
    declared = tool_pb2.GetSchemaResponse.FromString(get_schema_response(provider))
    contract = check_contract(name, declared)
    assert not contract.violations, contract.violations
    parts = [f"## {name}\n", *(_operation(one) for one in contract.operations)]
    if contract.settings:
        head = (
            f"### Settings of {name}\n\n| name | type | default | is |\n| --- | --- | --- | --- |\n"
        )
        parts.append(head + "".join(_settings(contract.settings, "")))
    return "\n".join(parts)


def _operation(one: Operation) -> str:
    head = f"### {one.full_name}\n\n{_traits(one)}. {_line(one.description)}\n"
    rows = "".join(_arguments(one.input_schema))
    return f"{head}\n| argument | type | is |\n| --- | --- | --- |\n{rows}" if rows else head


def _traits(one: Operation) -> str:
    """Kind and risk; what is not a resource is read only."""
    kind = one.kind.value.replace("_", " ").capitalize()
    return f"{kind} of {one.risk.value} risk" if one.kind is Kind.RESOURCE else kind


def _arguments(schema: Schema) -> Iterator[str]:
    for name, inner in schema.properties.items():
        shown = f"**`{name}`**" if name in schema.required else f"`{name}`"
        yield f"| {shown} | {_type(inner)} | {_line(_described(inner))} |\n"


def _type(schema: Schema) -> str:
    if schema.enum_values:
        return " or ".join(f"`{one}`" for one in schema.enum_values)
    if schema.type is SchemaType.ARRAY and schema.items is not None:
        return f"list of {_type(schema.items)}"
    return schema.type.value


def _described(schema: Schema) -> str:
    return schema.description or (schema.items.description if schema.items else "")


def _settings(settings: tuple[Setting, ...], above: str) -> Iterator[str]:
    for one in settings:
        name = f"{above}{one.name}"
        kind = one.type.value.replace("_", " of ")
        yield f"| `{name}` | {kind} | {_default(one)} | {_line(one.description)} |\n"
        yield from _settings(one.settings, f"{name}.")


def _default(one: Setting) -> str:
    if one.required:
        return "must be there"
    return "none" if one.default is None else f"`{written_value(one.default)}`"


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
