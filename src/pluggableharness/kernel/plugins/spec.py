"""What the configuration says of one provider: what to start, and with what."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.settings import Setting
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.schema.settings import setting_problems

Admit = Callable[[Sequence[Operation], Callable[[str], Producer]], Mapping[str, str]]
"""Is told all that is declared, and who a provider is; gives the providers that may not be used,
and why. Raises UsageError when the configuration is wrong."""

Judge = Callable[[Sequence[Setting], JsonObject], Iterable[object]]
"""From declared settings and a configuration to its problems, each of which is a line as text."""


class Instance(Enum):
    """How many processes a provider has (F8)."""

    SHARED = "shared"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One provider as it is to be run.

    `command` is a program and its arguments, never a line for a shell. `config` is its
    decoded block (P28), which `judge` holds against the settings that the provider declares,
    naming every problem; `environment` is what it gets beside the few inherited variables.
    `disabled` names operations that it declares and that are not offered. `guarded` are files
    that nothing which it runs may change, since they are believed or started later (C14).
    `directory` is the folder that it is started in (F3); None is ours, and in a `Setup` its
    working directory.
    """

    name: str
    command: tuple[str, ...]
    config: JsonObject = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    instance: Instance = Instance.SHARED
    disabled: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    directory: Path | None = None
    judge: Judge = field(default=setting_problems, compare=False, repr=False)
