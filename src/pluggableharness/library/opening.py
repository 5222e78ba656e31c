"""From a project's directory to the setup of a kernel (K34)."""

import os
from collections.abc import Mapping
from pathlib import Path

from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.setup import Setup


def project(
    directory: str | Path = ".",
    *,
    profile: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Setup:
    """The setup that a project's agent.hcl comes to; without one, all built-in providers.

    `profile` is what sessions run under, None for the default one; `environment` is what
    `env("NAME")` reads, None for the program's own. `dataclasses.replace` changes what is to be
    otherwise. Raises UsageError for a directory or a configuration that cannot be used.
    """
    try:
        path = Path(directory).absolute()
    except OSError as error:
        raise UsageError(
            f"{directory}: the directory in which the program was started is gone"
        ) from error
    if not path.is_dir():
        raise UsageError(f"{directory}: not a directory; name the project's")
    return configured(path, os.environ if environment is None else environment, profile)
