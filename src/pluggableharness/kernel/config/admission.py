"""Which providers may be used: what they are and declare, held against agent.hcl and its lock.

A provider's files are looked at before it starts, and its declarations after (F4, F8, F9).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from pluggableharness.kernel.config.config import Config, OriginKind
from pluggableharness.kernel.config.declaration import declaration
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
from pluggableharness.kernel.config.project import shown_path
from pluggableharness.kernel.config.versions import satisfies
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.operation import Operation


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
            write_lock(self.path, shown_path(self.path), self.lock)

    def forget_others(self) -> tuple[str, ...]:
        """Drop the pins of providers that are no longer configured, and say which."""
        gone = tuple(name for name in self.lock if name not in {*self.found, *self.absent})
        if gone:
            self.lock = {name: pin for name, pin in self.lock.items() if name not in gone}
            write_lock(self.path, shown_path(self.path), self.lock)
        return gone


def _declared(offered: Sequence[Operation]) -> dict[str, dict[str, str]]:
    declared: dict[str, dict[str, str]] = {}
    for operation in offered:
        declared.setdefault(operation.provider, {})[operation.name] = declaration(operation)
    return declared


def admit(
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
