"""From a project's configuration to the `Setup` of a kernel (F3, F4, F8, F9)."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pluggableharness.kernel.config.commands import files_of
from pluggableharness.kernel.config.config import Config, OriginKind, ProviderConfig
from pluggableharness.kernel.config.config import Profile as WrittenProfile
from pluggableharness.kernel.config.declaration import declaration
from pluggableharness.kernel.config.given import Given
from pluggableharness.kernel.config.granted import GRANTED_NAME, GrantedFile
from pluggableharness.kernel.config.identity import Found, locate
from pluggableharness.kernel.config.lock import (
    LOCK_NAME,
    Lock,
    Pin,
    identity_differences,
    operation_differences,
    read_lock,
    write_lock,
)
from pluggableharness.kernel.config.profiles import tool_problem
from pluggableharness.kernel.config.project import project_config, shown_path
from pluggableharness.kernel.config.provider_block import late_problems
from pluggableharness.kernel.config.versions import satisfies
from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE, InstructionsFile, Profile
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.schema.nearest import nearest
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.errors import NoStateDirectory
from pluggableharness.kernel.store.location import sessions_directory

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
        rules = _given_rules(granted)
        return Setup(directory, rules=rules, policy_files=granted.believed, keep_grant=granted.keep)
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
    gate: "LockGate | None" = None,
) -> Setup:
    """What a configuration comes to; `gate` is by default one that refuses what has changed.

    Raises UsageError.
    """
    gate = gate or LockGate.opened(config)
    granted = granted_file(config.path.parent)
    retries = config.settings.retry
    root = str(config.path.parent)
    profiles = {name: _agent(written, retries, root) for name, written in config.profiles.items()}
    believed = believed_files(config, directory)
    specs = (
        _spec(one, gate.found[one.name], environment)
        for one in config.providers
        if one.name in gate.found
    )
    return Setup(
        directory,
        tuple(replace(spec, guarded=tuple(sorted(believed))) for spec in specs),
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
        policy_files=believed,
        keep_grant=granted.keep,
        admit=partial(_admit, config, gate),
        absent=gate.absent,
    )


def believed_files(config: Config, directory: Path) -> frozenset[str]:
    """The files that rules come from, and that reviewers and providers are started from.

    Whoever writes them decides, or runs outside of every sandbox (K5a, K8, C14).
    """
    commands = [rule.reviewer.command for rule in config.rules if rule.reviewer]
    commands += [one.origin.command for one in config.providers]
    folders = (config.path.parent, directory)
    started = (file for command in commands for file in files_of(command, folders))
    return granted_file(config.path.parent).believed.union((str(config.path), *started))


def granted_file(root: Path) -> GrantedFile:
    """The rules of "always" of the project with that root, as this user's state knows them."""
    path = root / GRANTED_NAME
    try:
        state = sessions_directory(os.environ).parent / "granted"
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
    near = nearest(name, profiles)
    hint = f"did you mean {near}?" if near else "the file describes none"
    raise UsageError(f"{shown_path(config.path)}: there is no agent_profile '{name}'; {hint}")


def _agent(written: WrittenProfile, retries: int, root: str) -> Profile:
    """A profile as sessions know it, with the usual reach where the file says nothing."""
    default = DEFAULT_PROFILE
    depth, at_once = written.depth, written.max_concurrent_subagents
    return Profile(
        written.name,
        written.tools,
        Bounds(written.max_turns, written.max_cost_usd, written.max_wall_clock_s),
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


@dataclass(slots=True)
class LockGate:
    """Holds providers against the lock file, and pins those that it does not know yet (F4)."""

    path: Path
    lock: Lock
    found: dict[str, Found]
    accepts: bool
    absent: dict[str, str] = field(default_factory=dict)
    accepted: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def opened(cls, config: Config, *, accept: bool = False) -> "LockGate":
        """Find every provider; those that are not what they were may not start, and are `absent`.

        `accept` notes in `accepted` what has changed, instead of refusing it. Raises UsageError
        for a lock file that cannot be read.
        """
        root = config.path.parent
        path = root / LOCK_NAME
        lock = read_lock(path, shown_path(path))
        gate = cls(path, lock, {}, accept)
        for one in config.providers:
            try:
                found = locate(one, root)
            except UsageError as error:
                gate.absent[one.name] = str(error)
                continue
            pinned = lock.get(one.name)
            changes = list(identity_differences(pinned, found.identity)) if pinned else []
            if reason := gate.refusal(one.name, changes):
                gate.absent[one.name] = reason
            else:
                gate.found[one.name] = found
        return gate

    def refusal(self, name: str, changes: Sequence[str]) -> str:
        """Why a provider with these changes may not be used; "" when it may."""
        if not changes:
            return ""
        if self.accepts:
            self.accepted.setdefault(name, []).extend(changes)
            return ""
        lines = [f"{shown_path(self.path)} does not allow provider {name}, which has changed:"]
        lines += [f"  {change}" for change in changes]
        return "\n".join([*lines, "If this is as it should be: harness config accept"])

    def refused(self, offered: Sequence[Operation]) -> dict[str, str]:
        """The providers that declare what differs from what is pinned, and how it differs."""
        reasons = {
            name: self.refusal(name, list(operation_differences(self.lock[name], operations)))
            for name, operations in _declared(offered).items()
            if name in self.lock
        }
        return {name: reason for name, reason in reasons.items() if reason}

    def pin(self, offered: Sequence[Operation]) -> None:
        """Pin the providers of these operations as they are."""
        declared = _declared(offered)
        pins = {name: Pin(self.found[name].identity, ops) for name, ops in declared.items()}
        new = {name: pin for name, pin in pins.items() if self.lock.get(name) != pin}
        if new:
            # Read again, since another process may have pinned other providers meanwhile.
            self.lock = {**read_lock(self.path, shown_path(self.path)), **new}
            write_lock(self.path, self.lock)

    def forget_others(self) -> tuple[str, ...]:
        """Drop the pins of providers that are no longer configured, and say which."""
        gone = tuple(name for name in self.lock if name not in {*self.found, *self.absent})
        if gone:
            self.lock = {name: pin for name, pin in self.lock.items() if name not in gone}
            write_lock(self.path, self.lock)
        return gone


def _declared(offered: Sequence[Operation]) -> dict[str, dict[str, str]]:
    declared: dict[str, dict[str, str]] = {}
    for operation in offered:
        declared.setdefault(operation.provider, {})[operation.name] = declaration(operation)
    return declared


def _admit(
    config: Config,
    gate: LockGate,
    offered: Sequence[Operation],
    producer: Callable[[str], Producer],
) -> Mapping[str, str]:
    """Hold what the providers declare against the file and its lock, and pin what is new.

    Gives those that may not be used, and why. Raises UsageError for whatever the file says of
    operations that the others do not have.
    """
    unfit = dict(_unfit_versions(config, {one.provider for one in offered}, producer))
    refused = {**gate.refused(offered), **unfit}
    fit = [one for one in offered if one.provider not in refused]
    names: dict[str, tuple[str, ...]] = {}
    for operation in fit:
        names[operation.provider] = (*names.get(operation.provider, ()), operation.name)
    problems = [*_operation_problems(config, names), *_tool_problems(config, names)]
    if problems:
        raise UsageError("\n".join(problems))
    gate.pin(fit)
    return refused


def _unfit_versions(
    config: Config, names: Set[str], producer: Callable[[str], Producer]
) -> Iterator[tuple[str, str]]:
    for one in config.providers:
        if one.name in names and one.origin.kind is not OriginKind.BUILTIN:
            version = producer(one.name).version
            if not satisfies(version, one.version):
                reason = f"{one.name} has version {version}, which is not {one.version}"
                yield one.name, f"{one.place}: {reason}"


def _operation_problems(config: Config, names: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for one in config.providers:
        for operation in (*one.disabled, *one.timeouts, *one.overrides):
            problem = tool_problem(f"{one.name}.{operation}", names)
            if problem:
                yield f"{one.place}: {problem}"


def _tool_problems(config: Config, names: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for profile in config.profiles.values():
        for tool, place in zip(profile.tools, profile.places, strict=True):
            problem = tool_problem(tool, names)
            if problem:
                yield f"{place}: {problem}"
