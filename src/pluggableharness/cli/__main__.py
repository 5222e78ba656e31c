"""The way in of the `harness` command, and of `python -m pluggableharness.cli`.

From its first line until a command runs an interrupt ends the process without a word (K33): as
an exception it would come anywhere in what is being imported, and be printed.
"""

import os
import sys
from _signal import SIGINT, signal  # type: ignore[import-not-found]  # without what `signal` loads

from pluggableharness.cli.exits import INTERRUPTED

signal(SIGINT, lambda *_: os._exit(INTERRUPTED))

from pluggableharness.cli.main import main  # noqa: E402  # see above

if __name__ == "__main__":
    sys.exit(main())
