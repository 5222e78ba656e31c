"""S8, S10: large files through everything."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from bench.driving import Discard, Metronome, kernel
from bench.memory import children, peak_mb, reset_peak
from bench.reading import Reading, alternating, at_most
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.kernel import Kernel

_LINE = b"the quick brown fox jumps over the lazy dog, line %09d\n"
_BIG_BYTES = 2 << 30
_EDITED_BYTES = 10_000_000


async def rows() -> list[Reading]:
    """All of them, in a directory of their own."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        spec = first_party("filesystem", {"require_read": False})
        async with kernel(spec, directory=place) as running:
            return [await _replacement(running, place), *await _tail(running, place)]


async def _replacement(running: Kernel, place: Path) -> Reading:
    path = place / "edited.txt"
    _write(path, _EDITED_BYTES)
    number = 0

    def words() -> tuple[str, str]:
        nonlocal number
        number += 1
        return f"line {50_000 + number:09d}", f"LINE {50_000 + number:09d}"

    async def ours() -> float:
        old, new = words()
        edit = {"path": "edited.txt", "old_str": old, "new_str": new}
        model = Metronome([[("filesystem.edit_file", edit)]])
        async with running.session(model, Discard()) as session:
            await session.run("bench")
        return model.seconds[0] * 1e3

    async def plain() -> float:
        old, new = words()
        began = time.perf_counter()
        _replace(path, old.encode(), new.encode())
        return (time.perf_counter() - began) * 1e3

    await ours()
    sides = await alternating(ours, plain, rounds=9)
    return at_most("S10", "one replacement in a 10 MB file", sides, "ms", 2, "plain Python")


def _replace(path: Path, old: bytes, new: bytes) -> None:
    """Read, replace, write, fsync, rename: as short as it can be."""
    content = path.read_bytes().replace(old, new)
    beside = path.with_suffix(".tmp")
    with beside.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    beside.rename(path)


async def _tail(running: Kernel, place: Path) -> list[Reading]:
    path = place / "big.txt"
    _write(path, _BIG_BYTES)
    grown: list[float] = []

    async def ours() -> float:
        family = [os.getpid(), *children(os.getpid())]
        before = {pid: reset_peak(pid) for pid in family}
        model = Metronome([[("filesystem.read_file", {"path": "big.txt", "start_line": -50})]])
        async with running.session(model, Discard()) as session:
            await session.run("bench")
        grown.append(max(peak_mb(pid) - mb for pid, mb in before.items()))
        return model.seconds[0]

    async def tools() -> float:
        began = time.perf_counter()
        subprocess.run(["wc", "-l", str(path)], check=True, capture_output=True)
        subprocess.run(["tail", "-n", "50", str(path)], check=True, capture_output=True)
        return time.perf_counter() - began

    sides = await alternating(ours, tools)
    more = max(grown)
    return [
        at_most("S8", "fifty lines from the end of 2 GB", sides, "s", 4, "wc -l and tail"),
        Reading("S8", "... and the memory that it took", more, "MB", more, "< 64", more < 64),
    ]


def _write(path: Path, size: int) -> None:
    """Fill a file with numbered lines; one block of them, again and again, when it is large."""
    block = b"".join(_LINE % number for number in range(min(size, 10_000_000) // 53))
    with path.open("wb") as out:
        for _ in range(max(1, size // len(block))):
            out.write(block)
