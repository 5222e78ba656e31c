"""One kernel a session: a lock file beside the log, held as long as the log is open (K27).

SQLite's own locks cannot say this, since they must let readers in. The lock is a `flock`,
which the operating system drops with its holder however that ends; it is not on the log
itself, because closing a second descriptor of that file would drop SQLite's locks on it.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.kernel.regular import kind
from pluggableharness.kernel.store.errors import LogFailed, LogInUse, LogWriteError


def lock_path(log: Path) -> Path:
    """The lock file of a log."""
    return log.with_name(log.name + ".lock")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held; `left` says that its file was still there from a holder that died."""

    descriptor: int
    left: bool


def take_lock(log: Path) -> Lock:
    """Lock a log for this process.

    Raises LogInUse when a kernel has it already, this one included.
    """
    path = lock_path(log)
    while True:
        descriptor, left = _open(log, path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace")
            os.close(descriptor)
            raise _not_locked(log, holder, error) from error
        if _is_current(descriptor, path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            return Lock(descriptor, left)
        # Its last holder removed the file between our opening and our locking of it.
        os.close(descriptor)


def drop_lock(lock: Lock, log: Path) -> None:
    """Remove the lock file, then let go: whoever waits sees that it is not current."""
    lock_path(log).unlink(missing_ok=True)
    os.close(lock.descriptor)


def holders() -> frozenset[int]:
    """The inodes of all files that any process has locked so.

    As the system lists them: to try a lock would refuse it, for that moment, to a kernel.
    """
    with open("/proc/locks", encoding="ascii") as file:
        rows = [line.split() for line in file]
    # A line of one that waits has "->" after its number.
    return frozenset(int(row[5].rpartition(":")[2]) for row in rows if row[1] == "FLOCK")


def is_held(log: Path, held: frozenset[int]) -> bool:
    """Whether a kernel has a log open; `held` is what `holders` gave."""
    try:
        return lock_path(log).stat().st_ino in held
    except OSError:
        return False


def _open(log: Path, path: Path) -> tuple[int, bool]:
    """A descriptor of the lock file, and whether the file was there before."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            return os.open(path, flags | os.O_EXCL, 0o600), False
        except FileExistsError:
            descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise LogWriteError(log, f"its lock file cannot be written ({error.strerror})") from error
    strange = kind(os.fstat(descriptor).st_mode)
    if strange:
        os.close(descriptor)
        raise LogWriteError(log, f"{path.name} is {strange} and no file. Remove it")
    return descriptor, True


def _not_locked(log: Path, holder: str, error: OSError) -> LogFailed:
    if isinstance(error, BlockingIOError):
        return LogInUse(
            log, f"process {holder or 'unknown'} has this session open. End it there first"
        )
    advice = f"it cannot be locked ({error.strerror}). Set XDG_STATE_HOME to a local disk"
    return LogWriteError(log, advice)


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
