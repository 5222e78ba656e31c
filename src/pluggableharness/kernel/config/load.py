"""From agent.hcl to a `Config`, or to everything that is wrong with it (F1, F2)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from pluggableharness.kernel.config.commands import command_problem, located
from pluggableharness.kernel.config.config import (
    Config,
    Known,
    OriginKind,
    ProviderConfig,
    Settings,
    WrittenProfile,
)
from pluggableharness.kernel.config.evaluate import Scope
from pluggableharness.kernel.config.matching import There
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.policies import rules
from pluggableharness.kernel.config.profiles import profile
from pluggableharness.kernel.config.providers import Providers
from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import ConfigError, Problem, Source, Span
from pluggableharness.kernel.config.syntax import Block, Body
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.hook import HOOK_TIMEOUT_S, HookMode, HookPoint, Subscription
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.verdict import Reviewer
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.regular import NotRegular, opened
from pluggableharness.kernel.schema.nearest import close

_LARGEST: Final = 1 << 20
"""Bytes: a hundred times what a long configuration has."""

_LABELS: Final = {
    "required_providers": None,
    "provider": "the provider's name",
    "policy": "a name",
    "agent_profile": "a name",
    "hook": "the point that it hooks into",
    "settings": None,
}
"""What each block's label is; None where it has none."""

POINTS: Final = tuple(one.value for one in HookPoint)
MODES: Final = tuple(one.value for one in HookMode)
LOG_LEVELS: Final = ("debug", "info", "warning", "error")


def read_source(path: Path, shown: str) -> Source:
    """The text of a configuration file; `shown` is its name in messages.

    Raises:
        UsageError: it cannot be read, is too large, or is no UTF-8.
    """
    try:
        with opened(path) as file:
            data = file.read(_LARGEST + 1)
    except NotRegular as error:
        raise UsageError(f"{shown}: {error.strerror}; put the configuration into one") from error
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{shown}: is larger than 1 MiB; no configuration is")
    try:
        return Source(shown, data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"{shown}:{line}:{column}: is not UTF-8 here; save it as UTF-8"
        raise UsageError(message) from error


def load(
    path: Path,
    source: Source,
    environment: Mapping[str, str],
    known: Mapping[str, Known],
    *,
    working_directory: Path,
    version: str,
) -> Config:
    """The configuration that a file says.

    `known` are the built-in providers, which have `version`. Nothing is started or imported.

    Raises:
        ConfigError: with every mistake of the file.
    """
    paths = {"root": str(path.parent), "cwd": str(working_directory)}
    if home := environment.get("HOME"):
        paths["home"] = home  # without one "${path.home}/x" is a mistake, and not "/x"
    reading = Reading(source, Scope(environment, {"path": paths}))
    body = parse(source, reading.problems)
    blocks = _by_type(reading, body)
    required = next(iter(blocks["required_providers"]), None)
    providers = Providers(reading, path.parent, known, version).read(required, blocks["provider"])
    built_in = [one.name for one in providers if one.origin.kind is OriginKind.BUILTIN]
    loaded = {name: known[name] for name in built_in if name in known}
    settings = next(iter(blocks["settings"]), None)
    found_rules = rules(reading, blocks["policy"], _there(known, providers))
    profiles = {one.labels[0]: profile(reading, one, loaded) for one in blocks["agent_profile"]}
    _warn_of_slips(reading, profiles.values(), [one.name for one in providers])
    config = Config(
        path,
        providers,
        tuple(rule for rule, _ in found_rules),
        profiles,
        _hooks(reading, blocks["hook"], providers),
        _settings(reading, settings.body) if settings else Settings(),
        tuple(reading.warnings),
    )
    _check_reviewers(reading, found_rules, config)
    if reading.problems:
        raise ConfigError(source, _once(reading.problems))
    return replace(
        config, rules=tuple(_located_reviewer(rule, path.parent) for rule in config.rules)
    )


def _there(known: Mapping[str, Known], providers: Iterable[ProviderConfig]) -> There:
    """What a rule may speak of: everything built in, loaded or not, and what else is loaded."""
    others = [one.name for one in providers if one.origin.kind is not OriginKind.BUILTIN]
    offered = {name: one for name, one in known.items() if name not in others}
    operations: dict[str, tuple[str, ...] | None] = dict.fromkeys(others)
    return There(
        {name: one.operations for name, one in offered.items()} | operations,
        {
            (name, operation): arguments
            for name, one in offered.items()
            for operation, arguments in one.arguments.items()
        },
    )


def _warn_of_slips(reading: Reading, profiles: Iterable[WrittenProfile], loaded: list[str]) -> None:
    """Warn of tools whose provider is not loaded, where one that is has nearly its name (F9)."""
    for one in profiles:
        for tool, place in zip(one.tools, one.places, strict=True):
            provider = tool.partition(".")[0]
            near = None if provider in loaded else close(provider, loaded)
            if near is not None:
                reading.warnings.append(
                    f"{place}: no provider {in_quotes(provider)} is loaded, so "
                    f"{in_quotes(tool)} offers nothing; did you mean {near}?"
                )


def _check_reviewers(reading: Reading, found: Iterable[tuple[Rule, Block]], config: Config) -> None:
    for rule, block in found:
        reviewer = rule.reviewer or Reviewer()
        if reviewer.profile and reviewer.profile not in config.profiles:
            reading.unknown(block.span, "agent_profile", reviewer.profile, config.profiles)
        problem = reviewer.command and command_problem(config.path.parent, reviewer.command)
        if problem:
            reading.wrong(block.span, f"'reviewer': {problem}")


def _located_reviewer(rule: Rule, root: Path) -> Rule:
    """The rule with its reviewer's files as they are found from anywhere (K8)."""
    reviewer = rule.reviewer
    if reviewer is None or not reviewer.command:
        return rule
    return replace(rule, reviewer=replace(reviewer, command=located(root, reviewer.command)))


def _once(problems: list[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))


def _by_type(reading: Reading, body: Body) -> dict[str, list[Block]]:
    """The blocks that are what they should be, by type; the others are noted."""
    for setting in body.settings:
        message = f"'{setting.name}' stands outside of every block; there are: {', '.join(_LABELS)}"
        reading.wrong(setting.span, message)
    found: dict[str, list[Block]] = {kind: [] for kind in _LABELS}
    names: dict[tuple[str, tuple[str, ...]], Span] = {}
    for block in body.blocks:
        if block.type not in _LABELS:
            reading.unknown(block.span, "block", block.type, _LABELS)
        elif _labelled(reading, block) and (
            # Hooks may share their point.
            block.type == "hook" or not reading.repeats(block, names)
        ):
            found[block.type].append(block)
    return found


def _labelled(reading: Reading, block: Block) -> bool:
    label = _LABELS[block.type]
    if label is None:
        for span in block.label_spans:
            reading.wrong(span, f"'{block.type}' takes no name")
        return not block.labels
    return reading.labelled(block, label)


def _hooks(
    reading: Reading, blocks: list[Block], providers: tuple[ProviderConfig, ...]
) -> tuple[Subscription, ...]:
    loaded = [one.name for one in providers]
    found: dict[tuple[HookPoint, str], Subscription] = {}
    spans: dict[tuple[HookPoint, str], Span] = {}
    for block in blocks:
        hook = _hook(reading, block, loaded)
        if hook is None:
            continue
        key = hook.point, hook.provider
        if key in found:
            first = reading.source.where(spans[key])
            message = f"{hook.provider} hooks into {hook.point.value} twice, first at {first}"
            reading.wrong(block.span, message)
        found.setdefault(key, hook)
        spans.setdefault(key, block.span)
    return tuple(found.values())


def _hook(reading: Reading, block: Block, loaded: list[str]) -> Subscription | None:
    point = block.labels[0]
    if point not in POINTS:
        reading.unknown(block.label_spans[0], "point for a hook", point, POINTS)
    fields = Fields(reading, block.body, f'hook "{point}"', ("provider", "mode", "timeout"))
    provider = fields.required(block.span, "provider", "a provider that is loaded")
    mode = fields.choice("mode", MODES, block.span)
    timeout = fields.duration("timeout")
    setting = fields.setting("provider")
    if provider and setting and provider not in loaded:
        reading.unknown(setting.value.span, "loaded provider", provider, loaded)
    if provider is None or mode is None or point not in POINTS:
        return None
    return Subscription(HookPoint(point), provider, HookMode(mode), timeout or HOOK_TIMEOUT_S)


def _settings(reading: Reading, body: Body) -> Settings:
    attributes = ("log_level", "retry", "default_timeout", "telemetry", "gate_reads")
    fields = Fields(reading, body, "settings", attributes)
    default = Settings()
    retry = fields.whole("retry", 0, 10)
    return Settings(
        fields.choice("log_level", LOG_LEVELS) or default.log_level,
        default.retry if retry is None else retry,
        fields.duration("default_timeout"),
        fields.address("telemetry"),
        fields.boolean("gate_reads") or False,
    )
