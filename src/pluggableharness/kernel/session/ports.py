"""What a session needs beyond its turns."""

from typing import Protocol

from pluggableharness.kernel.domain.session import SessionEnd
from pluggableharness.kernel.turn.ports import Record


class SessionRecord(Record, Protocol):
    """The session's log, with its first and last entry."""

    @property
    def head(self) -> str:
        """The hash of the last row, in hex: whoever keeps it can show later tampering (K29)."""
        ...

    def started(self, working_directory: str, model: str) -> None:
        """File the start."""
        ...

    def resumed(self, model: str) -> None:
        """File that the session goes on."""
        ...

    def ended(self, end: SessionEnd) -> None:
        """File the end."""
        ...
