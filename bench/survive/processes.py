"""Which processes are there, by a mark in their command lines."""

from pathlib import Path


def with_mark(mark: str) -> list[int]:
    """The processes with the mark; zombies have no command line and do not count."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
