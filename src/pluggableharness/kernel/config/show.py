"""A configuration as it takes effect, in HCL, without a secret in it (F6, F11)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set

from pluggableharness.kernel.config.config import (
    Config,
    Known,
    OriginKind,
    Profile,
    ProviderConfig,
    Written,
)
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.schema.settings import with_defaults

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def shown(config: Config, known: Mapping[str, Known]) -> str:
    """The effective configuration as text that could stand in an agent.hcl.

    A provider's setting that reads the environment is shown as it is written, since its value
    may be a secret.
    """
    blocks = [_block("required_providers", _required(config.providers))]
    for provider in config.providers:
        settings = known.get(provider.name) if provider.origin.kind is OriginKind.BUILTIN else None
        values = with_defaults(settings.settings if settings else (), provider.config)
        blocks.append(_block(f"provider {_quoted(provider.name)}", _provider(provider, values)))
    blocks += [_block(f"policy {_quoted(rule.name)}", _rule(rule)) for rule in config.rules]
    for profile in config.profiles.values():
        blocks.append(_block(f"agent_profile {_quoted(profile.name)}", _profile(profile)))
    for hook in config.hooks:
        lines = [("provider", _value(hook.provider)), ("mode", _value(hook.mode))]
        if hook.timeout_s:
            lines.append(("timeout", _seconds(hook.timeout_s)))
        blocks.append(_block(f"hook {_quoted(hook.point)}", _aligned(lines)))
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
            parts.append(f"source = {_quoted('python:' + origin.module)}")
        case OriginKind.EXECUTABLE:
            parts.append(f"source = {_value(list(origin.command))}")
        case OriginKind.ANNOUNCED:
            pass
    if provider.version:
        parts.append(f"version = {_quoted(provider.version)}")
    return "{ " + ", ".join(parts) + " }" if parts else "{}"


def _provider(provider: ProviderConfig, values: Mapping[str, Json]) -> list[str]:
    pairs = [(name, _setting(name, value, provider.written)) for name, value in values.items()]
    if provider.instance:
        pairs.append(("instance", _value(provider.instance)))
    if provider.environment:
        pairs.append(("environment", _value(list(provider.environment))))
    if provider.disabled:
        pairs.append(("disabled", _value(list(provider.disabled))))
    lines = _aligned(pairs)
    if provider.timeouts:
        timeouts = _aligned([(name, _seconds(s)) for name, s in provider.timeouts.items()])
        lines += ["timeout {", *(f"  {line}" for line in timeouts), "}"]
    return lines


def _setting(path: str, value: Json, written: Mapping[str, Written]) -> str:
    """A setting as it is written where it reads the environment, else its value."""
    found = written.get(path)
    if isinstance(value, Mapping) and (found is None or not found.computed):
        members = (
            f"{_key(name)} = {_setting(f'{path}.{name}', inner, written)}"
            for name, inner in value.items()
        )
        return _braced(members)
    return found.text if found and found.text is not None else _value(value)


def _rule(rule: Rule) -> list[str]:
    match: dict[str, Json] = {
        "tool_name": _sorted(rule.tool_name),
        "provider": _sorted(rule.provider),
        "risk": _sorted(None if rule.risk is None else {one.value for one in rule.risk}),
        "kind": _sorted(None if rule.kind is None else {one.value for one in rule.kind}),
    }
    named = {name: values for name, values in match.items() if values is not None}
    pairs = [("match", _value(named))]
    if rule.when:
        pairs.append(("when", _quoted(rule.when)))
    pairs.append(("action", _quoted(rule.action.value)))
    if rule.reason:
        pairs.append(("reason", _quoted(rule.reason)))
    return _aligned(pairs)


def _sorted(values: Set[str] | None) -> list[str] | None:
    return None if values is None else sorted(values)


def _profile(profile: Profile) -> list[str]:
    bounds = ("max_turns", "max_cost_usd", "max_wall_clock_s", "depth", "max_concurrent_subagents")
    given: list[tuple[str, Json]] = [(name, getattr(profile, name)) for name in bounds]
    pairs = [("tools", _value(list(profile.tools)))]
    pairs += [(name, _value(value)) for name, value in given if value is not None]
    lines = _aligned(pairs)
    if profile.models:
        lines.append("model {")
        for place, model in enumerate(profile.models):
            lines.append("  fallback {" if place else "  primary {")
            lines.append(f"    provider = {_quoted(model.provider)}")
            lines.append(f"    id       = {_quoted(model.id)}")
            lines.append("  }")
        lines.append("}")
    return lines


def _settings(config: Config) -> list[str]:
    settings = config.settings
    pairs = [
        ("log_level", _value(settings.log_level)),
        ("retry", _value(settings.retry)),
        ("gate_reads", _value(settings.gate_reads)),
    ]
    if settings.default_timeout_s:
        pairs.append(("default_timeout", _seconds(settings.default_timeout_s)))
    if settings.telemetry:
        pairs.append(("telemetry", _value(settings.telemetry)))
    return _aligned(pairs)


def _seconds(value: float) -> str:
    return f'"{value:g}s"'


def _value(value: Json) -> str:
    match value:
        case str():
            return _quoted(value)
        case Mapping():
            return _braced(f"{_key(name)} = {_value(inner)}" for name, inner in value.items())
        case list() | tuple():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            return json.dumps(value)


def _braced(members: Iterator[str]) -> str:
    inner = ", ".join(members)
    return f"{{ {inner} }}" if inner else "{}"


def _key(name: str) -> str:
    return name if _WORD.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A text as HCL quotes it; what does not print is escaped."""
    escaped = "".join(
        _ESCAPES.get(one) or (one if one.isprintable() else f"\\U{ord(one):08x}") for one in text
    )
    return '"' + escaped.replace("${", "$${").replace("%{", "%%{") + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
