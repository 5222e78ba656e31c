"""From a project's configuration to the `Setup` of a kernel (F3, F4, F8, F9)."""

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from pluggableharness.kernel.config.admission import LockGate, admit
from pluggableharness.kernel.config.commands import files_of
from pluggableharness.kernel.config.config import Config, OriginKind, ProviderConfig, WrittenProfile
from pluggableharness.kernel.config.given import Given
from pluggableharness.kernel.config.granted import GRANTED_NAME, GrantedFile
from pluggableharness.kernel.config.identity import Found
from pluggableharness.kernel.config.project import project_config, shown_path
from pluggableharness.kernel.config.provider_block import late_problems
from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE, InstructionsFile, Profile
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.schema.nearest import did_you_mean
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.errors import NoStateDirectory
from pluggableharness.kernel.store.location import state_directory

_log = logging.getLogger("pluggableharness.config")


def configured(
    directory: Path, environment: Mapping[str, str], profile: str | None = None
) -> Setup:
    """The setup of the project that a directory is in. Its warnings are logged, and from then on
    what its `log_level` lets through.

    Without an agent.hcl that is every built-in provider with its defaults. `profile` is what
    sessions are to run under; None, where there are none, is the default one.

    A provider that is not there, or not what the lock file says, is in the setup's `absent`.

    Raises:
        UsageError: the configuration cannot be used.
    """
    config = project_config(directory, environment)
    if config is None:
        granted = granted_file(directory)
        files = frozenset((str(granted.path),))
        rules = _given_rules(granted)
        return Setup(directory, rules=rules, policy_files=files, keep_grant=granted.keep)
    for warning in config.warnings:
        _log.warning("%s", warning)
    logging.getLogger("pluggableharness").setLevel(config.settings.log_level.upper())
    name = DEFAULT_PROFILE.name if profile is None else profile
    return setup_of(config, directory, environment, profile=name)


def setup_of(
    config: Config,
    directory: Path,
    environment: Mapping[str, str],
    *,
    profile: str = DEFAULT_PROFILE.name,
    gate: LockGate | None = None,
) -> Setup:
    """What a configuration comes to; `gate` is by default one that refuses what has changed.

    Raises UsageError.
    """
    gate = gate or LockGate.opened(config)
    granted = granted_file(config.path.parent)
    retries = config.settings.retry
    root = str(config.path.parent)
    profiles = {name: _agent(written, retries, root) for name, written in config.profiles.items()}
    specs = (
        replace(_spec(one, gate.found[one.name], environment), directory=config.path.parent)
        for one in config.providers
        if one.name in gate.found
    )
    return Setup(
        directory,
        tuple(specs),
        rules=(*config.rules, *_given_rules(granted)),
        profile=_profile(config, profiles, profile),
        profiles=tuple(profiles.values()),
        timeouts={
            f"{one.name}.{operation}": seconds
            for one in config.providers
            for operation, seconds in one.timeouts.items()
        },
        default_timeout_s=config.settings.default_timeout_s,
        gate_reads=config.settings.gate_reads,
        telemetry=config.settings.telemetry,
        hooks=config.hooks,
        policy_files=policy_files(config, directory),
        keep_grant=granted.keep,
        admit=partial(admit, config, gate),
        absent=gate.absent,
    )


def policy_files(config: Config, directory: Path) -> frozenset[str]:
    """The files that rules come from, and that reviewers and providers are started from.

    Whoever writes them decides, or runs outside of every sandbox (K5a, K8, C14).
    """
    commands = [rule.reviewer.command for rule in config.rules if rule.reviewer]
    commands += [one.origin.command for one in config.providers]
    folders = (config.path.parent, directory)
    started = (file for command in commands for file in files_of(command, folders))
    granted = config.path.parent / GRANTED_NAME
    return frozenset((str(granted), str(config.path), *started))


def granted_file(root: Path) -> GrantedFile:
    """The rules of "always" of the project with that root, as this user's state knows them."""
    path = root / GRANTED_NAME
    try:
        state = state_directory(os.environ) / "granted"
    except NoStateDirectory:
        state = None
    return GrantedFile(path, shown_path(path), Given(state, root))


def _given_rules(granted: GrantedFile) -> tuple[Rule, ...]:
    """The rules that hold; a warning tells of the others."""
    found = granted.read()
    if count := len(found.foreign):
        rules, them = ("a rule", "it") if count == 1 else (f"{count} rules", "them")
        _log.warning(
            f"{granted.shown} holds {rules} that nobody gave on this machine as it stands there: "
            f"left out. To see {them} and take {them} over: harness policy accept"
        )
    return found.rules


def _profile(config: Config, profiles: Mapping[str, Profile], name: str) -> Profile:
    """The profile of that name; the default one has everything where the file describes none."""
    if name in profiles:
        return profiles[name]
    if name == DEFAULT_PROFILE.name and not profiles:
        return replace(DEFAULT_PROFILE, retries=config.settings.retry)
    meant = did_you_mean(name, profiles) if profiles else "; the file describes none"
    raise UsageError(
        f"{shown_path(config.path)}: there is no agent_profile {in_quotes(name)}{meant}"
    )


def _agent(written: WrittenProfile, retries: int, root: str) -> Profile:
    """A profile as sessions know it, with the usual reach where the file says nothing."""
    default = DEFAULT_PROFILE
    depth, at_once = written.depth, written.max_concurrent_subagents
    return Profile(
        written.name,
        written.tools,
        Bounds(
            written.max_turns,
            written.max_cost_usd,
            written.max_wall_clock_s,
            written.doom_loop_threshold or default.bounds.doom_loop,
        ),
        default.depth if depth is None else depth,
        default.max_concurrent_subagents if at_once is None else at_once,
        written.models,
        retries,
        written.instructions,
        InstructionsFile(written.instructions_file, root, written.instructions_place)
        if written.instructions_file
        else None,
    )


def _spec(provider: ProviderConfig, found: Found, environment: Mapping[str, str]) -> ProviderSpec:
    if provider.origin.kind is OriginKind.BUILTIN:
        spec = first_party(provider.name, provider.config)
    else:
        spec = ProviderSpec(provider.name, found.command, provider.config)
    named = (*provider.environment, *filter(None, (provider.origin.token_variable,)))
    passed = {name: environment[name] for name in named if name in environment}
    instance = Instance(provider.instance) if provider.instance else spec.instance
    judge = partial(late_problems, provider.written)
    disabled = (*spec.disabled, *provider.disabled)
    return replace(spec, environment=passed, instance=instance, judge=judge, disabled=disabled)
