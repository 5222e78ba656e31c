"""A configuration as it takes effect, in HCL, without a secret in it (F6, F11)."""

from collections.abc import Mapping, Sequence

from pluggableharness.kernel.config.config import (
    Config,
    Known,
    OriginKind,
    ProviderConfig,
    Written,
    WrittenProfile,
)
from pluggableharness.kernel.config.writing import braced, written_key, written_value
from pluggableharness.kernel.domain.hcl import hcl_string
from pluggableharness.kernel.domain.hook import HOOK_TIMEOUT_S
from pluggableharness.kernel.domain.model_choice import ModelChoice
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.schema.settings import with_defaults


def shown(config: Config, known: Mapping[str, Known]) -> str:
    """The effective configuration as text that could stand in an agent.hcl.

    A provider's setting that reads the environment is shown as it is written, since its value
    may be a secret.
    """
    blocks = [_block("required_providers", _required(config.providers))]
    for provider in config.providers:
        settings = known.get(provider.name) if provider.origin.kind is OriginKind.BUILTIN else None
        values = with_defaults(settings.settings if settings else (), provider.config)
        blocks.append(_block(f"provider {hcl_string(provider.name)}", _provider(provider, values)))
    blocks += [_block(f"policy {hcl_string(rule.name)}", _rule(rule)) for rule in config.rules]
    for profile in config.profiles.values():
        blocks.append(_block(f"agent_profile {hcl_string(profile.name)}", _profile(profile)))
    for hook in config.hooks:
        lines = [
            ("provider", written_value(hook.provider)),
            ("mode", written_value(hook.mode.value)),
        ]
        if hook.timeout_s != HOOK_TIMEOUT_S:
            lines.append(("timeout", _seconds(hook.timeout_s)))
        blocks.append(_block(f"hook {hcl_string(hook.point.value)}", _aligned(lines)))
    blocks.append(_block("settings", _settings(config)))
    return "\n".join(blocks)


def _block(head: str, lines: Sequence[str]) -> str:
    inner = "".join(f"  {line}\n" for line in lines)
    return f"{head} {{\n{inner}}}\n" if inner else f"{head} {{}}\n"


def _aligned(pairs: Sequence[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in pairs), default=0)
    return [f"{name:<{width}} = {value}" for name, value in pairs]


def _required(providers: Sequence[ProviderConfig]) -> list[str]:
    return _aligned([(one.name, _origin(one)) for one in providers])


def _origin(provider: ProviderConfig) -> str:
    origin = provider.origin
    parts: list[str] = []
    match origin.kind:
        case OriginKind.BUILTIN:
            parts.append('source = "builtin"')
        case OriginKind.PYTHON:
            parts.append(f"source = {hcl_string('python:' + origin.module)}")
        case OriginKind.EXECUTABLE:
            parts.append(f"source = {written_value(list(origin.command))}")
        case OriginKind.MCP:
            parts.append('source = "mcp"')
            if origin.command:
                parts.append(f"command = {written_value(list(origin.command))}")
            else:
                parts.append(f"address = {hcl_string(origin.address)}")
            if origin.token_variable:
                parts.append(f"token = env({hcl_string(origin.token_variable)})")
        case OriginKind.ANNOUNCED:
            pass
    if provider.version:
        parts.append(f"version = {hcl_string(provider.version)}")
    return "{ " + ", ".join(parts) + " }" if parts else "{}"


def _provider(provider: ProviderConfig, values: Mapping[str, Json]) -> list[str]:
    pairs = [(name, _setting(name, value, provider.written)) for name, value in values.items()]
    if provider.instance:
        pairs.append(("instance", written_value(provider.instance)))
    if provider.environment:
        pairs.append(("environment", written_value(list(provider.environment))))
    if provider.disabled:
        pairs.append(("disabled", written_value(list(provider.disabled))))
    lines = _aligned(pairs)
    if provider.timeouts:
        timeouts = _aligned([(name, _seconds(s)) for name, s in provider.timeouts.items()])
        lines += ["timeout {", *(f"  {line}" for line in timeouts), "}"]
    for name, said in provider.overrides.items():
        pairs = [(word, written_value(value)) for word, value in said.items()]
        inner = _aligned(pairs)
        lines += [f"operation {hcl_string(name)} {{", *(f"  {line}" for line in inner), "}"]
    return lines


def _setting(path: str, value: Json, written: Mapping[str, Written]) -> str:
    """A setting as it is written where it reads the environment, else its value."""
    found = written.get(path)
    if isinstance(value, Mapping) and (found is None or not found.computed):
        members = (
            f"{written_key(name)} = {_setting(f'{path}.{name}', inner, written)}"
            for name, inner in value.items()
        )
        return braced(members)
    return found.text if found and found.text is not None else written_value(value)


def _rule(rule: Rule) -> list[str]:
    pairs = [("match", written_value(dict(rule.named)))]
    if rule.when:
        pairs.append(("when", hcl_string(rule.when)))
    pairs.append(("action", hcl_string(rule.action.value)))
    if rule.reason:
        pairs.append(("reason", hcl_string(rule.reason)))
    if rule.reviewer:
        command = list(rule.reviewer.command)
        pairs.append(("reviewer", written_value(rule.reviewer.profile or command)))
    return _aligned(pairs)


def _profile(profile: WrittenProfile) -> list[str]:
    bounds = (
        *("max_turns", "max_cost_usd", "max_wall_clock_s", "doom_loop_threshold"),
        *("depth", "max_concurrent_subagents"),
    )
    given: list[tuple[str, Json]] = [(name, getattr(profile, name)) for name in bounds]
    pairs = [("tools", written_value(list(profile.tools)))]
    pairs += [(name, written_value(value)) for name, value in given if value is not None]
    for name in ("instructions", "instructions_file"):
        if getattr(profile, name):
            pairs.append((name, hcl_string(getattr(profile, name))))
    lines = _aligned(pairs)
    if profile.models:
        lines.append("model {")
        for place, model in enumerate(profile.models):
            lines.append("  fallback {" if place else "  primary {")
            lines += [f"    {line}" for line in _model(model)]
            lines.append("  }")
        lines.append("}")
    return lines


def _model(model: ModelChoice) -> list[str]:
    pairs = [("provider", hcl_string(model.vendor.value)), ("id", hcl_string(model.id))]
    if model.base_url:
        pairs.append(("base_url", hcl_string(model.base_url)))
    if model.key_variable:
        pairs.append(("key", f"env({hcl_string(model.key_variable)})"))
    return _aligned(pairs)


def _settings(config: Config) -> list[str]:
    settings = config.settings
    pairs = [
        ("log_level", written_value(settings.log_level)),
        ("retry", written_value(settings.retry)),
        ("gate_reads", written_value(settings.gate_reads)),
    ]
    if settings.default_timeout_s:
        pairs.append(("default_timeout", _seconds(settings.default_timeout_s)))
    if settings.telemetry:
        pairs.append(("telemetry", written_value(settings.telemetry)))
    return _aligned(pairs)


def _seconds(value: float) -> str:
    return f'"{value:g}s"'
