"""Start the exec provider as a plugin."""

import json
import sys

from pluggableharness.providers.exec.provider import provider
from pluggableharness.providers.exec.sandbox import Unavailable, ability, mechanism

if __name__ == "__main__":
    # As hclog writes it, since nothing can be logged over gRPC before there is a call. Where a call
    # runs stands in its preview as well (C14).
    level = "warn" if isinstance(mechanism(), Unavailable) else "debug"
    print(json.dumps({"@level": level, "@message": ability()}), file=sys.stderr)
    provider.serve()
