"""What a kernel is made of, as a value: whoever opens one changes it with `replace`."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.hook import Subscription
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.profile import DEFAULT_PROFILE, Profile
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.first_party import all_first_party
from pluggableharness.kernel.planning import deadline_s
from pluggableharness.kernel.plugins.spec import Admit, ProviderSpec
from pluggableharness.kernel.policy import Rule
from pluggableharness.kernel.session.approvals import Keep
from pluggableharness.kernel.store.errors import NoStateDirectory
from pluggableharness.kernel.store.location import state_directory
from pluggableharness.kernel.turn.ports import Model


@dataclass(frozen=True, slots=True)
class Setup:
    """What a kernel is made of.

    `timeout_s` overrides every operation's own deadline, `timeouts` that of single ones by
    their full names, and `default_timeout_s` is for those that declare none (K14). `allow_all`
    turns what would be asked into allow, never what is denied (K10); `gate_reads` is as in
    `Terms`, `policy_files` what the configuration adds to what is `believed`. `admit` judges what
    the providers declare (F4, F8); `absent` are those that may not even be started, and why (P2).
    `keep_grant` writes down what is allowed for always (K10). `profile` is that of the sessions
    that a person starts, `bounds` takes the place of its own; `profiles` are those that a call
    may start a child session under, with the model that `models` makes for it (K22). In
    `plan_mode` no resource operation is offered (K11). `telemetry` is the address of the
    collector that traces go to; None for no traces (K31).
    """

    working_directory: Path
    providers: tuple[ProviderSpec, ...] = field(default_factory=all_first_party)
    timeout_s: float | None = None
    allow_all: bool = False
    rules: tuple[Rule, ...] = ()
    timeouts: Mapping[str, float] = field(default_factory=dict)
    default_timeout_s: float | None = None
    gate_reads: bool = False
    policy_files: frozenset[str] = frozenset()
    admit: Admit | None = field(default=None, compare=False)
    absent: Mapping[str, str] = field(default_factory=dict)
    bounds: Bounds | None = None
    hooks: tuple[Subscription, ...] = ()
    keep_grant: Keep | None = field(default=None, compare=False)
    profile: Profile = DEFAULT_PROFILE
    profiles: tuple[Profile, ...] = ()
    models: Callable[[Profile], Model] | None = None
    plan_mode: bool = False
    telemetry: str | None = None

    def __post_init__(self) -> None:
        """Raises UsageError for a working directory that no provider could be told of."""
        directory = str(self.working_directory)
        try:
            directory.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"the working directory {in_quotes(directory)} has bytes in its path that are no "
                "UTF-8, in which providers are told of it; rename it"
            ) from None

    @property
    def believed(self) -> frozenset[str]:
        """What no call may write unasked and no sandboxed command at all (K5a, C14)."""
        return believed(self.policy_files)

    @property
    def started(self) -> tuple[ProviderSpec, ...]:
        """The providers as they are started: each is told what is believed, and has a folder."""
        guarded, here = tuple(sorted(self.believed)), self.working_directory
        return tuple(
            replace(one, guarded=guarded, directory=one.directory or here) for one in self.providers
        )

    def deadline_s(self, operation: Operation) -> float | None:
        """How long a call of an operation may take, in seconds; None for as long as it likes."""
        given = self.timeout_s or self.timeouts.get(operation.full_name)
        declared = operation.default_timeout_s or operation.kind is Kind.INTERACTIVE
        return deadline_s(operation, given or (None if declared else self.default_timeout_s))


def believed(policy_files: frozenset[str]) -> frozenset[str]:
    """The files of a configuration that decide later, and this user's state with all in it, which
    is the same in every project."""
    try:
        return policy_files | {str(state_directory(os.environ))}
    except NoStateDirectory:
        return policy_files
