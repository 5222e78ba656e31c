"""The kernel's log as lines on standard error, of which none can move a cursor (K28)."""

import logging
import sys

from pluggableharness.kernel.frontends.text import escaped

LOGGER = "pluggableharness"
"""Everything that the kernel, and providers through it, log is below this logger."""


class _Lines(logging.Formatter):
    """`harness: warning: provider.web: …`, each line of a traceback by itself."""

    def format(self, record: logging.LogRecord) -> str:
        """The record in lines."""
        of = record.name.removeprefix(f"{LOGGER}.")
        head = f"harness: {record.levelname.lower()}: {of}: "
        lines = super().format(record).splitlines() or [""]
        return "\n".join(head + (escaped(line) or line) for line in lines)


def show_log() -> None:
    """Have what is logged from now on printed; how much of it is agent.hcl's to say."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logging.getLogger(LOGGER).handlers = [handler]
