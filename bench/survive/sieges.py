"""R3: the jail while names are swapped under it as fast as can be, and by every spelling."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

from bench.survive.siege import INSIDE, SECRET, Siege
from bench.survive.survived import Survived
from pluggableharness.sdk.failures import ToolFailure
from pluggableharness.sdk.jail import Jail, by_openat2, by_steps

ID = "R3"
SIZE = 20_000

_WAYS = {"openat2": by_openat2, "steps": by_steps}

_TELLING = 1000
"""Tries of which one has to get what lies inside: fewer may all meet the attacker's swap."""

_SPELLINGS = (
    "..", "../outside/target", "./../outside/target", "x/../../outside/target", "//etc/passwd",
    "{root}/../outside/target", "{root}-sibling/target", "{outside}/target", "/",
    "out/target", "out", "file", "chain", "up/outside/target", "/proc/self/root{outside}/target",
    "/proc/self/cwd", "/dev/fd/0", "out/new/new", "{root}/out/target",
)  # fmt: skip
"""Paths that lead out of a root with the links of `_with_links`, however they are written."""


async def run(count: int) -> Survived:
    """Try so many times to read and to write what lies outside, in both ways of opening."""
    kinds = list(product(_WAYS, (True, False), ("read", "write")))
    counts: Counter[str] = Counter()
    faults: list[str] = []
    done = 0
    for number, (way, folder, what) in enumerate(kinds):
        tries = count * (number + 1) // len(kinds) - done
        done += tries
        name = f"{what} of a swapped {'folder' if folder else 'file'} by {way}"
        with tempfile.TemporaryDirectory() as base:
            siege = Siege(Path(base), folder=folder)
            jail = Jail((siege.root,), descend=_WAYS[way])
            try:
                seen = siege.run(tries, _attempt(jail, what))
                siege.assert_nothing_outside_was_touched()
            except AssertionError as fault:
                faults.append(f"{name}: {fault}")
            else:
                counts.update({f"{what}: {outcome}": n for outcome, n in seen.items()})
                if "inside" not in seen and tries >= _TELLING:
                    faults.append(f"{name}: never got what lies inside, so nothing was shown")
        faults += _spelled(way)
    counts["spellings"] = len(_SPELLINGS) * len(_WAYS)
    return Survived(ID, f"tried {done:,} times to get out of the jail", counts, tuple(faults))


def _attempt(jail: Jail, what: str) -> Callable[[str], bytes]:
    def read(path: str) -> bytes:
        descriptor = jail.open(path)
        try:
            return os.read(descriptor, 100)
        finally:
            os.close(descriptor)

    def write(path: str) -> bytes:
        for each, flags in ((path, os.O_WRONLY), (f"{path}.new", os.O_WRONLY | os.O_CREAT)):
            descriptor = jail.open(each, flags)
            os.write(descriptor, INSIDE)
            os.close(descriptor)
        return b""

    return read if what == "read" else write


def _spelled(way: str) -> list[str]:
    """What was wrong with how the spellings were answered."""
    faults = []
    with tempfile.TemporaryDirectory() as base:
        root, outside = Path(base, "root"), Path(base, "outside")
        _with_links(root, outside)
        jail = Jail((root,), descend=_WAYS[way])
        for spelling in _SPELLINGS:
            path = spelling.format(root=root, outside=outside)
            for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT):
                try:
                    os.close(jail.open(path, flags))
                except ToolFailure as failure:
                    if failure.category != "permission_denied":
                        faults.append(f"{spelling} by {way}: {failure.category}")
                else:
                    faults.append(f"{spelling} by {way}: was opened")
        if sorted(os.listdir(outside)) != ["target"]:
            faults.append(f"by {way}: something was made outside")
        if Path(outside, "target").read_bytes() != SECRET:
            faults.append(f"by {way}: what lies outside was changed")
    return faults


def _with_links(root: Path, outside: Path) -> None:
    for folder in (root, root / "x", outside, Path(f"{root}-sibling")):
        folder.mkdir()
    for folder in (outside, Path(f"{root}-sibling")):
        Path(folder, "target").write_bytes(SECRET)
    (root / "out").symlink_to(outside)
    (root / "file").symlink_to(outside / "target")
    (root / "chain").symlink_to("file")
    (root / "up").symlink_to("..")
