"""Which hosts the configuration names (C16).

An allowed name stands for that host alone, with or without `www.`; `*.example.com` stands for
all below it. A denied name stands for all below it as well: who denies a domain does not mean
to leave its subdomains open.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pluggableharness.providers.web.targets import canonical_host
from pluggableharness.sdk import InvalidArguments, PermissionDenied


@dataclass(frozen=True, slots=True)
class Domains:
    """`allowed` empty means any that is not denied."""

    allowed: frozenset[str]
    denied: frozenset[str]

    def check(self, host: str) -> None:
        """Let a host pass.

        Raises:
            PermissionDenied: it is denied, or others are allowed and it is not.
        """
        if any(host == one or host.endswith(f".{one}") for one in self.denied):
            raise PermissionDenied(f"{host} is among denied_domains of the configuration")
        if self.allowed and not self.names(host):
            known = ", ".join(sorted(self.allowed))
            raise PermissionDenied(
                f"{host} is not among allowed_domains of the configuration: {known}"
            )

    def names(self, host: str) -> bool:
        """Whether the host is among the allowed ones by name."""
        above = (host[at:] for at, one in enumerate(host) if one == ".")
        own = {host, without_www(host), f"www.{host}"}
        return bool(own & self.allowed) or any(f"*{one}" in self.allowed for one in above)


def without_www(host: str) -> str:
    """The host as it is compared: a leading `www.` makes no other site."""
    return host.removeprefix("www.")


def allowed_names(names: Iterable[str]) -> frozenset[str]:
    """The canonical spelling of allowed names. Raises ValueError for what is none."""
    return frozenset(
        f"*.{_canonical(name[2:])}" if name.startswith("*.") else _canonical(name) for name in names
    )


def denied_names(names: Iterable[str]) -> frozenset[str]:
    """The canonical spelling of denied names. Raises ValueError for what is none."""
    return frozenset(without_www(_canonical(name.removeprefix("*."))) for name in names)


def _canonical(name: str) -> str:
    try:
        return canonical_host(f"[{name}]" if ":" in name else name)
    except InvalidArguments as refusal:
        raise ValueError(refusal.message) from None
