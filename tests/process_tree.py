"""Looking at processes from outside: who descends from whom, and that none is left."""

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 30.0
"""Far more than the two seconds within which nothing may be left (K16), since a busy machine
also has to start what is then to end; make survive measures the time itself."""


def descendants(pid: int) -> set[int]:
    """All processes below `pid` at this moment."""
    children: dict[int, set[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, set()).add(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), set()) - found:
            found.add(child)
            waiting.append(child)
    return found


def _parent(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie that waits to be collected."""
    return _state(pid) not in "ZX"


def stopped(pid: int) -> bool:
    """Whether the process stands still until it is told to go on."""
    return _state(pid) == "T"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def with_word(word: str) -> set[int]:
    """The living processes that have `word` in their command line, other than this one."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in line and alive(int(entry.name)):
            found.add(int(entry.name))
    return found


def seconds(number: int) -> str:
    """So many seconds for `sleep`, with a fraction that no other run of tests has at a time."""
    return f"{number}.{os.getpid()}"


def eventually(holds: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Wait until `holds`, bounded; only something that never comes true fails here."""
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, f"never came true: {what}"
        time.sleep(0.02)
