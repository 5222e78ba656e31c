"""The one provider that a command speaks of: among those that the project loads, or the reason
why not."""

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.first_party import NAMES
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.schema.nearest import close
from pluggableharness.kernel.setup import Setup


def provider_of(operation: str) -> str:
    """The provider's part of a full name. Raises UsageError for a name without one."""
    provider, dot, _ = operation.partition(".")
    if not dot:
        raise UsageError(
            f"{in_quotes(operation)} is not PROVIDER.OPERATION; `harness tools` lists them"
        )
    return provider


def loaded_spec(project: Setup, name: str, hint: str = "") -> ProviderSpec:
    """The project's provider of that name; `hint` says what else could be done without it.

    Raises UsageError that says how to load it, or which are loaded.
    """
    loaded = {spec.name: spec for spec in project.providers}
    if name in loaded:
        return loaded[name]
    if name in project.absent:
        raise UsageError(project.absent[name])
    if name in NAMES:
        raise UsageError(
            f"{name} is built in, but required_providers of agent.hcl does not name it; "
            f'add there {name} = {{ source = "builtin" }}'
        )
    near = close(name, loaded, wrong=1 / 2)
    guess = f"; did you mean {near}?" if near else "."
    are = f"There are: {', '.join(loaded)}." if loaded else "The project loads none."
    there = f"there is no provider {in_quotes(name)} here{guess} {are}"
    raise UsageError(f"{there} {hint}".rstrip())
