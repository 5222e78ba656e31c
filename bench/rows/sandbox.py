"""C14: what the sandbox adds to the start of a command."""

import tempfile
from pathlib import Path

from bench.driving import kernel, turns
from bench.reading import Reading, alternating, median
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.kernel import Kernel

_MOST_MS = 10
_CALLS = 20


async def rows() -> list[Reading]:
    """A command that does nothing, sandboxed and not, through the whole kernel."""
    held = first_party("exec", {"sandbox": "workspace"})
    free = first_party("exec", {"sandbox": "none"})
    with tempfile.TemporaryDirectory() as directory:
        async with (
            kernel(held, directory=Path(directory)) as sandboxed,
            kernel(free, directory=Path(directory)) as bare,
        ):
            sides = await alternating(lambda: _once(sandboxed), lambda: _once(bare))
    added = sides.ours - sides.peer
    return [
        Reading(
            "C14", "what the sandbox adds to a command", sides.ours, "ms", added,
            f"<= {_MOST_MS} ms", added <= _MOST_MS, sides.peer, "no sandbox",
        )
    ]  # fmt: skip


async def _once(running: Kernel) -> float:
    """Milliseconds of a turn with one command, at the median."""
    seconds, _ = await turns(running, [("exec.bash", {"command": "true"})], _CALLS)
    return median(seconds) * 1e3
