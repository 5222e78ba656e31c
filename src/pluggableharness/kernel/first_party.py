"""The providers that come with the distribution: how each is started, and no more.

They run as anyone's do, each in a process of its own; the kernel imports none of them.
"""

import sys

from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec

NAMES = ("filesystem", "search", "exec", "task", "user", "agent")


def first_party(name: str, config: JsonObject | None = None) -> ProviderSpec:
    """The spec of a first-party provider; exec has a process for each session (F8)."""
    assert name in NAMES
    return ProviderSpec(
        name,
        (sys.executable, "-I", "-m", f"pluggableharness.providers.{name}"),
        config or {},
        instance=Instance.SESSION if name == "exec" else Instance.SHARED,
    )


def all_first_party() -> tuple[ProviderSpec, ...]:
    """Every first-party provider with its defaults."""
    return tuple(first_party(name) for name in NAMES)
