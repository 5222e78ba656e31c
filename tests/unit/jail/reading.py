"""What the tests of the jail share beside their fixtures."""

import os
from collections.abc import Callable
from pathlib import Path

from pluggableharness.sdk.jail import Jail

Build = Callable[..., Jail]
"""Makes a jail of the roots given."""


def read(jail: Jail, path: str, base: Path | None = None) -> bytes:
    """What the jail lets one read of a small file."""
    descriptor = jail.open(path, base=base)
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)
