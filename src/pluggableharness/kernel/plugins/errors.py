"""Why a provider cannot be had."""

from collections.abc import Sequence

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
    """Some providers did not load; `errors` says which and why, `provider` names the first."""

    def __init__(self, errors: Sequence[ProviderLoadError]) -> None:
        self.errors = tuple(errors)
        super().__init__(self.errors[0].provider, "\n".join(str(error) for error in self.errors))
