"""Files that the host starts or believes later, as it tells a provider at its launch (C14, K8)."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pluggableharness.wire.handshake import GUARDED_VARIABLE


def guarded_files() -> tuple[Path, ...]:
    """Return the absolute paths of programs and rules that no command of a provider may change.

    They are below no folder in particular; a host that tells of none has none. `agent.hcl` and
    `.agent` are guarded without being named.

    Raises:
        ValueError: the host's word is not understood, so that nothing is known to be guarded.
    """
    said = json.loads(os.environ.get(GUARDED_VARIABLE, "[]"))
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise ValueError(f"{GUARDED_VARIABLE} is no list of paths")
    return tuple(map(Path, said))
