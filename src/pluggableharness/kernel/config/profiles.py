"""`agent_profile` blocks (F9, F10, K18, K20, K23)."""

from collections.abc import Mapping
from posixpath import isabs, normpath

from pluggableharness.kernel.config.config import Known, WrittenProfile
from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import Block, variable_of
from pluggableharness.kernel.domain.model_choice import (
    MODEL_ID,
    ModelChoice,
    Vendor,
    is_model_id,
)
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.schema.nearest import did_you_mean

ATTRIBUTES = (
    "tools",
    "max_turns",
    "max_cost_usd",
    "max_wall_clock_s",
    "doom_loop_threshold",
    "depth",
    "max_concurrent_subagents",
    "instructions",
    "instructions_file",
)


def profile(reading: Reading, block: Block, known: Mapping[str, Known]) -> WrittenProfile:
    """A profile; `known` are the loaded providers whose operations are known by now."""
    name = block.labels[0]
    fields = Fields(reading, block.body, f'agent_profile "{name}"', ATTRIBUTES, ("model",))
    tools = fields.strings("tools", 'a list such as ["filesystem.*", "exec.bash"]')
    for tool, span in tools:
        _check_tool(reading, tool, span, known)
    return WrittenProfile(
        name,
        reading.source.where(block.span),
        _models(reading, fields.block("model")),
        tuple(tool for tool, _ in tools),
        tuple(reading.source.where(span) for _, span in tools),
        fields.whole("max_turns", 1),
        fields.positive("max_cost_usd", "US dollars"),
        fields.positive("max_wall_clock_s", "seconds"),
        fields.whole("doom_loop_threshold", 3, 5),
        fields.whole("depth", 0),
        fields.whole("max_concurrent_subagents", 1),
        (fields.string("instructions") or "").strip(),
        *_instructions_file(reading, fields),
    )


def tool_problem(tool: str, offered: Mapping[str, tuple[str, ...]]) -> str | None:
    """What is wrong with a tool's name, by the operations of the providers that are loaded.

    A provider that is not loaded is nobody's concern (F9).
    """
    provider, dot, operation = tool.partition(".")
    if not dot or not provider or not operation:
        return f"{in_quotes(tool)} is not PROVIDER.OPERATION or PROVIDER.*"
    names = offered.get(provider)
    if names is None or operation == "*" or operation in names:
        return None
    meant = did_you_mean(operation, names, f"{provider}.")
    return f"{provider} has no operation {in_quotes(operation)}{meant}"


def _check_tool(reading: Reading, tool: str, span: Span, known: Mapping[str, Known]) -> None:
    offered = {name: one.operations for name, one in known.items()}
    problem = tool_problem(tool, offered)
    if problem:
        reading.wrong(span, problem)


def _instructions_file(reading: Reading, fields: Fields) -> tuple[str, str]:
    """The name of the file, and where it is written; what it holds is read by each session."""
    expected = 'a file of the project such as "AGENTS.md", relative to agent.hcl'
    name, setting = (
        fields.string("instructions_file", expected),
        fields.setting("instructions_file"),
    )
    if name is None or setting is None:
        return "", ""
    span = setting.value.span
    inside = normpath(name)
    if not name or "\0" in name or isabs(name) or inside.split("/")[0] in (".", ".."):
        reading.wrong(span, f"'instructions_file' is {expected}")
        return "", ""
    return name, reading.source.where(span)


def _models(reading: Reading, block: Block | None) -> tuple[ModelChoice, ...]:
    if block is None:
        return ()
    fields = Fields(reading, block.body, "model", (), ("primary", "fallback"))
    primary = fields.block("primary")
    if primary is None:
        reading.wrong(block.span, "model needs a block 'primary' { provider = …  id = … }")
    blocks = [*([primary] if primary else []), *fields.blocks("fallback")]
    return tuple(model for one in blocks if (model := _model(reading, one)) is not None)


def _model(reading: Reading, block: Block) -> ModelChoice | None:
    fields = Fields(reading, block.body, block.type, ("provider", "id", "base_url", "key"))
    vendors = [vendor.value for vendor in Vendor]
    vendor = fields.choice("provider", vendors, block.span)
    model = _model_id(reading, fields, block)
    base_url = fields.address("base_url") or ""
    key = _key_variable(reading, fields)
    return ModelChoice(Vendor(vendor), model, base_url, key) if vendor and model else None


def _model_id(reading: Reading, fields: Fields, block: Block) -> str | None:
    model, setting = fields.required(block.span, "id", MODEL_ID), fields.setting("id")
    if model is None or setting is None or is_model_id(model):
        return model
    reading.wrong(setting.value.span, f"'id' is {MODEL_ID}")
    return None


def _key_variable(reading: Reading, fields: Fields) -> str:
    """The variable that a key is in, checked before anything is evaluated (F6)."""
    setting = fields.setting("key")
    if setting is None:
        return ""
    variable = variable_of(setting.value)
    if variable is None:
        message = "'key' is a secret and must be written exactly env(\"NAME\")"
        reading.wrong(setting.span, message, secret=True)
        return ""
    reading.value(setting.value, secret=True)
    return variable
