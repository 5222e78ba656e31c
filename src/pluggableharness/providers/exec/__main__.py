"""Start the exec provider as a plugin."""

import sys

from pluggableharness.providers.exec.provider import provider
from pluggableharness.providers.exec.sandbox import ability

if __name__ == "__main__":
    # To the log that the host keeps of a provider; what a call runs in stands in its preview.
    print(ability(), file=sys.stderr)
    provider.serve()
