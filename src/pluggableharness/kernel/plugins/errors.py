"""Why a provider cannot be had."""

from collections.abc import Mapping, Sequence

from pluggableharness.kernel.domain.errors import ProviderUnavailable


class ProviderLoadError(ProviderUnavailable):
    """A provider did not start, or what it declares or is given breaks the contract (P2, P28).

    `reasons` holds everything that is wrong, one line each.
    """

    def __init__(self, provider: str, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        lines = "".join(f"\n  - {reason}" for reason in self.reasons)
        what = self.reasons[0] if len(self.reasons) == 1 else f"not loaded:{lines}"
        super().__init__(provider, f"provider {provider}: {what}")


class ProvidersNotLoaded(ProviderUnavailable):
    """No provider can be had; `absent` says why of each, `provider` names the first."""

    def __init__(self, absent: Mapping[str, str]) -> None:
        self.absent = dict(absent)
        super().__init__(next(iter(self.absent)), "\n".join(self.absent.values()))


def left_out(absent: Mapping[str, str]) -> tuple[str, ...]:
    """What a person is told of providers that others do without."""
    return tuple(
        f"Provider {name} is left out, and so is all that it offers. {reason}"
        for name, reason in absent.items()
    )
