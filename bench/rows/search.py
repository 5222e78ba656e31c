"""S6, S7: text in 50,000 files and names among 100,000, through everything."""

import os
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.driving import Discard, Metronome, kernel
from bench.reading import Reading, alternating, at_most
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.kernel import Kernel
from pluggableharness.providers.search.ripgrep import installed

_FILES = 100_000
_COUNTED = 10_000
_KINDS = ("py", "txt", "md", "c", "json", "js", "h", "rs", "yml", "toml")
_ROUNDS = 7
_TEXT = "lorem ipsum dolor sit amet consectetur adipiscing elit\n" * 20


async def rows() -> list[Reading]:
    """All of them, over two trees."""
    with tempfile.TemporaryDirectory() as directory:
        texts, names = Path(directory, "texts"), Path(directory, "names")
        _plant(texts, _FILES // 2, _text)
        _plant(names, _FILES, lambda number: "")
        return [*await _grep(texts), *await _glob(names)]


def _plant(root: Path, count: int, text: Callable[[int], str]) -> None:
    """Write files, a hundred a folder, three folders deep."""
    for number in range(count):
        folder = root / f"{number // 10_000}" / f"{number // 1_000 % 10}" / f"{number // 100 % 10}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number}.{_KINDS[number % 10]}").write_text(text(number))


def _text(number: int) -> str:
    return f"{_TEXT}common {number}\n{'rare' if number % 1_000 == 0 else ''}\n{_TEXT}"


async def _grep(place: Path) -> list[Reading]:
    async with kernel(first_party("search"), directory=place) as running:
        few = await alternating(
            _ours(running, "search.grep", {"pattern": "rare"}),
            _ripgrep(place, "--json", "--sort=path", "rare", "./"),
            _ROUNDS,
        )
        many = await alternating(
            _ours(running, "search.grep", {"pattern": "common"}),
            _ripgrep(place, "--json", "--sort=path", "common", "./"),
            _ROUNDS,
        )
    peer = "rg --json --sort path"
    return [
        at_most("S6", "grep in 50,000 files, 50 matches", few, "ms", 1.25, peer),
        at_most("S6", "... and until 10,000 of 50,000", many, "ms", 1.25, peer),
    ]


async def _glob(place: Path) -> list[Reading]:
    readings = []
    async with kernel(first_party("search"), directory=place) as running:
        for pattern, what in (
            ("*.py", "glob over 100,000 files, 10,000 match"),
            ("**/7*/*.py", "... 1,000 match by a folder's name"),
            ("**", "... all match"),
        ):
            sides = await alternating(
                _ours(running, "search.glob", {"pattern": pattern}),
                _ripgrep(place, "--files", f"--glob={pattern}"),
                _ROUNDS,
            )
            readings.append(at_most("S7", what, sides, "ms", 1.4, "rg --files -g"))
    return readings


def _ours(running: Kernel, operation: str, arguments: JsonObject) -> Callable[[], Awaitable[float]]:
    async def once() -> float:
        model = Metronome([[(operation, arguments)]])
        async with running.session(model, Discard()) as session:
            await session.run("bench")
        return model.seconds[0] * 1e3

    return once


def _ripgrep(place: Path, *arguments: str) -> Callable[[], Awaitable[float]]:
    """Run the same ripgrep with the same limit: it is ended once it has found as many."""

    async def once() -> float:
        began = time.perf_counter()
        argv = [installed().path, "--no-config", *arguments]
        with subprocess.Popen(argv, cwd=place, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            found = 0
            while found < _COUNTED and (chunk := os.read(process.stdout.fileno(), 1 << 18)):
                found += chunk.count(b'{"type":"match"')
            process.kill()
        return (time.perf_counter() - began) * 1e3

    return once
