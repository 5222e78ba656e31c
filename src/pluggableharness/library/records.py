"""Reading what sessions recorded, while they run or long after (K27, K29, K30)."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.kernel.domain.event import Event
from pluggableharness.kernel.domain.recorded import RecordedSession
from pluggableharness.kernel.store.location import log_path, sessions_directory
from pluggableharness.kernel.store.past import read_session
from pluggableharness.kernel.store.reading import VerifyReport, read_events, read_meta, verify
from pluggableharness.kernel.store.story import Told, story


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one session, read-only; made by `record`."""

    path: Path

    def session(self) -> RecordedSession:
        """What the session came to: its history, what it spent, what was cut short.

        Raises LogUnreadable, as all of these do.
        """
        return read_session(self.path)

    def events(self) -> Iterator[Event]:
        """The rows in order, as they were filed."""
        return read_events(self.path)

    def story(self) -> Iterator[Told]:
        """The news that the session once was, with the times of its rows (K30)."""
        return story(read_events(self.path))

    def meta(self) -> Mapping[str, str]:
        """Facts about the session: its status, model, profile, first prompt."""
        return read_meta(self.path)

    def verify(self, head: str | None = None) -> VerifyReport:
        """Whether the rows are those that were written; `head` is the hash told at the end."""
        return verify(self.path, head)


def record(session: str | Path) -> Record:
    """The record of a session by its id, or of the file at a path."""
    if isinstance(session, Path):
        return Record(session)
    return Record(log_path(sessions_directory(os.environ), session))
