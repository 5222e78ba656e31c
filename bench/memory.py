"""How much memory a process has held at most."""

import os
from pathlib import Path


def peak_mb(pid: int) -> float:
    """The greatest resident size of a process since it was last reset, in MB."""
    return _status_mb(pid, "VmHWM:")


def resident_mb(pid: int) -> float:
    """The resident size of a process at this moment, in MB."""
    return _status_mb(pid, "VmRSS:")


def _status_mb(pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise ValueError(f"process {pid} has no {name}")


def reset_peak(pid: int) -> float:
    """Begin to count anew; the present peak in MB."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return peak_mb(pid)


def children(pid: int) -> list[int]:
    """The processes below, at any depth."""
    found: list[int] = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
            found += [int(child), *children(int(child))]
    return found
