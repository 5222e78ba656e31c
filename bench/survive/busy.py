"""A busy session for kernels that are killed: the same work, whoever goes on with it."""

import sys
from pathlib import Path

from bench.driving import Calls, Steady
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.setup import Setup

FILES = ("a.txt", "b.txt")
TURNS = 6
_LINES = 20_000


def busy(mark: str) -> Steady:
    """Writes both files anew each turn, reads one and runs a command, whose line has `mark`."""

    def calls(turn: int) -> Calls:
        if turn >= TURNS:
            return ()
        command = {"command": f": {mark}; sleep 0.0{turn + 1} & sleep 0.02; wait"}
        return (
            *(("filesystem.write_file", {"path": f, "content": content(turn)}) for f in FILES),
            ("exec.bash", command),
            ("filesystem.read_file", {"path": FILES[0]}),
        )

    return Steady(calls)


def content(version: int) -> str:
    """What a file holds, whole: all of its lines say which version it is."""
    return f"version {version}\n" * _LINES


def fault_of(file: Path) -> str:
    """Why a file is neither the old nor the new one; empty when it is one of them."""
    text = file.read_text()
    first = text.partition("\n")[0].removeprefix("version ")
    whole = first.lstrip("-").isdigit() and text == content(int(first))
    return "" if whole else f"{file.name} is neither the old nor the new one"


def setup(directory: Path, mark: str) -> Setup:
    """Two first-party providers whose processes carry the mark in their command lines."""
    config = {"filesystem": {"require_read": False}, "exec": {}}
    return Setup(
        directory,
        providers=tuple(
            ProviderSpec(
                name, (sys.executable, "-m", f"pluggableharness.providers.{name}", mark), settings
            )
            for name, settings in config.items()
        ),
        allow_all=True,
    )
