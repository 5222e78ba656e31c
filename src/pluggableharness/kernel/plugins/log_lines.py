"""What a provider process prints, as lines of the kernel's log.

As go-plugin's hosts read it: hclog's JSON is logged at the level that it names, whoever wrote it in
whatever language, and any other line at debug.
"""

import json
import logging
from typing import Final

from pluggableharness.kernel.plugins.output import MAX_TOLD, printable
from pluggableharness.wire.masking import Mask

_LONGEST: Final = 65_536
"""Bytes of a line; a longer one comes in pieces."""

_LEVELS: Final = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}


class LogLines:
    """Cuts one stream into lines and logs them, without secrets and control characters (P31)."""

    def __init__(self, provider: str, secrets: tuple[str, ...]) -> None:
        self._log = logging.getLogger(f"pluggableharness.provider.{provider}")
        self._origin = {"provider": provider}
        self._mask = Mask(secrets)
        self._rest = b""

    def add(self, data: bytes) -> None:
        """Take more of the stream; b"" is its end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data or len(self._rest) > _LONGEST:
            lines.append(self._rest)
            self._rest = b""
        if not self._log.isEnabledFor(logging.DEBUG):
            # A flood of anything else costs next to nothing.
            lines = [line for line in lines if line.startswith(b"{")]
        for line in lines:
            self._tell(line)

    def _tell(self, line: bytes) -> None:
        level, said = _entry(line) or (logging.DEBUG, line.decode("utf-8", "replace"))
        if said.strip() and self._log.isEnabledFor(level):
            shown = printable(self._mask.text(said)[:MAX_TOLD])
            self._log.log(level, "%s", shown, extra=self._origin)


def _entry(line: bytes) -> tuple[int, str] | None:
    """The level and the text of hclog's JSON; None where the line is anything else."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    level, message = entry.get("@level"), entry.get("@message")
    if not isinstance(level, str) or level not in _LEVELS or not isinstance(message, str):
        return None
    fields = (f" {name}={value}" for name, value in entry.items() if not name.startswith("@"))
    return _LEVELS[level], message + "".join(fields)
