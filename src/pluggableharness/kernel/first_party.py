"""The providers that come with the distribution: how each is started, and no more.

They run as anyone's do, each in a process of its own; the kernel imports none of them.
"""

import sys
from collections.abc import Iterable, Sequence
from posixpath import normpath

from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec

NAMES = ("filesystem", "search", "exec", "web", "task", "user", "agent")

OFF = {"exec": ("shell_read",), "web": ("http_request",)}
"""Operations that are declared and not offered until the setting of their name is true.

A provider is asked for its operations before it is configured, so it cannot leave them out; and
it refuses them by itself as well, for hosts that know nothing of this.
"""


def first_party(name: str, config: JsonObject | None = None) -> ProviderSpec:
    """The spec of a first-party provider; exec has a process for each session (F8)."""
    assert name in NAMES
    settings = config or {}
    return ProviderSpec(
        name,
        (sys.executable, "-I", "-m", f"pluggableharness.providers.{name}"),
        settings,
        instance=Instance.SESSION if name == "exec" else Instance.SHARED,
        disabled=tuple(one for one in OFF.get(name, ()) if settings.get(one) is not True),
    )


def all_first_party() -> tuple[ProviderSpec, ...]:
    """Every first-party provider with its defaults."""
    return tuple(first_party(name) for name in NAMES)


def confined(providers: Iterable[ProviderSpec]) -> frozenset[str]:
    """The names of those whose commands are sure to be held in a sandbox without a network.

    Sure is what the configuration demands of our own exec provider: it fails where it cannot do
    that (C14). What it would choose by itself is not known here, and of another's program nothing.
    """
    return frozenset(one.name for one in providers if _confined(one))


def _confined(provider: ProviderSpec) -> bool:
    settings = provider.config
    roots = settings.get("roots")
    return (
        provider.command == first_party("exec").command
        and settings.get("sandbox") in ("workspace", "read_only")
        and settings.get("network") is not True
        and not (isinstance(roots, Sequence) and any(_is_all(one) for one in roots))
    )


def _is_all(root: Json) -> bool:
    return isinstance(root, str) and not normpath(root).strip("/")
