"""What a configuration says, as frozen values; the target of everything in this package."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pluggableharness.kernel.domain.hook import Subscription
from pluggableharness.kernel.domain.model_choice import ModelChoice
from pluggableharness.kernel.domain.settings import Setting
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.policy import Rule


class OriginKind(Enum):
    """Where a provider comes from (F3)."""

    BUILTIN = "builtin"
    EXECUTABLE = "executable"
    PYTHON = "python"
    ANNOUNCED = "announced"
    MCP = "mcp"


@dataclass(frozen=True, slots=True)
class Origin:
    """A provider's source.

    `command` is what an EXECUTABLE is started with, the program as an absolute path unless it
    is to be found by PATH, and `portable` the same without a place of this machine; `module` what
    a PYTHON one runs. An ANNOUNCED one is found by its name among the entry points of installed
    packages. An MCP server has a `command` or an `address`, the latter with the name of the
    variable that holds its token, if it wants one.
    """

    kind: OriginKind
    command: tuple[str, ...] = ()
    portable: str = field(default="", compare=False)
    module: str = ""
    address: str = ""
    token_variable: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """How a setting stands in the file: its place, and NAME when it is exactly env("NAME").

    `text` is the expression itself where any environment variable is read by it, since what it
    evaluates to may then be a secret; None elsewhere. `computed` tells that it is no plain list
    of its members, so that these have no place of their own.
    """

    place: str
    variable: str | None = None
    text: str | None = None
    computed: bool = True


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """A provider as configured: what `required_providers` and its own block say.

    `config` holds its own settings, evaluated; `written` how each of them is written, by its
    path with dots. `instance` None is the provider's default; `timeouts` are seconds by
    operation; `environment` names variables to pass on; `disabled` names operations (F8).
    `overrides` say the kind and risk of an MCP server's operations, by their names (K35).
    """

    name: str
    origin: Origin
    place: str
    version: str = ""
    config: JsonObject = field(default_factory=dict)
    written: Mapping[str, Written] = field(default_factory=dict)
    instance: str | None = None
    timeouts: Mapping[str, float] = field(default_factory=dict)
    environment: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WrittenProfile:
    """An `agent_profile`: what an agent may use and how far it may go (K18, K20, K23, F9, F10).

    `models` are tried in order; none means the caller's. `tools` are `provider.operation` or
    `provider.*`, and `places` says where each is written. Bounds that are None are not set.
    `instructions_file` is relative to the project, and `instructions_place` where it is written.
    """

    name: str
    place: str
    models: tuple[ModelChoice, ...] = ()
    tools: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    max_turns: int | None = None
    max_cost_usd: float | None = None
    max_wall_clock_s: float | None = None
    doom_loop_threshold: int | None = None
    depth: int | None = None
    max_concurrent_subagents: int | None = None
    instructions: str = ""
    instructions_file: str = ""
    instructions_place: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every session; `telemetry` is the address to export to, if any."""

    log_level: str = "warning"
    retry: int = 5
    default_timeout_s: float | None = None
    telemetry: str | None = None
    gate_reads: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """A whole agent.hcl, checked.

    `hooks` run in this order (F2, K25). `warnings` are complete lines for a person. When `profiles`
    is empty, the default profile may use everything.
    """

    path: Path
    providers: tuple[ProviderConfig, ...]
    rules: tuple[Rule, ...] = ()
    profiles: Mapping[str, WrittenProfile] = field(default_factory=dict)
    hooks: tuple[Subscription, ...] = ()
    settings: Settings = Settings()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a provider without starting it: its settings and its operations' names.

    `arguments` are the names of the arguments of each operation, as far as they are known.
    """

    settings: tuple[Setting, ...]
    operations: tuple[str, ...]
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
