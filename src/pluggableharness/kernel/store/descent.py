"""Which session a log's session belongs to, as the logs beside it tell (K22, K23)."""

from pathlib import Path

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.location import log_path
from pluggableharness.kernel.store.reading import read_meta


def check_root(log: Path) -> None:
    """See that a session may be resumed by itself: that no other one started it.

    A sub-agent's depth, budget and tools were what its parent had left to give, and the call
    that waited for its last words is gone: alone it would be wider than it was, for nobody.
    Raises UsageError that names the session to resume, and LogUnreadable.
    """
    parent = read_meta(log).get("parent")
    if parent:
        root = _root(log.parent, parent, {log.stem})
        raise UsageError(
            f"session {log.stem} is a sub-agent of {parent}, which alone can go on with its work. "
            f"Run: harness sessions resume {root}; or read it: harness sessions show {log.stem}"
        )


def _root(directory: Path, session_id: str, below: set[str]) -> str:
    """The topmost session of which there is a log."""
    try:
        parent = read_meta(log_path(directory, session_id)).get("parent")
    except LogUnreadable:
        return session_id
    if not parent or parent in below:
        return session_id
    return _root(directory, parent, below | {session_id})
