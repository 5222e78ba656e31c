"""`make survive`: every survival run at full size; what was done, the counts, what was left.

`python -m bench.survive R1 R5` runs only those, and `R1=50` one of them fifty times.
"""

import asyncio
import importlib
import sys
import time

from bench.survive.survived import Survived

MODULES = (
    "kills", "sieges", "hostile", "kernels", "crowd", "secrets", "adversity", "endless", "escapes",
    "fetches",
)  # fmt: skip


def main(words: list[str]) -> int:
    """Run what is asked for; 1 when something did not hold."""
    asked = dict(word.partition("=")[::2] for word in words)
    held = True
    for name in MODULES:
        module = importlib.import_module(f"bench.survive.{name}")
        if asked and module.ID not in asked:
            continue
        began = time.perf_counter()
        row = asyncio.run(module.run(int(asked.get(module.ID) or module.SIZE)))
        print(shown(row, time.perf_counter() - began), flush=True)
        held &= row.held
    return 0 if held else 1


def shown(row: Survived, seconds: float) -> str:
    """A run as a few lines."""
    counts = ", ".join(f"{name} {_number(count)}" for name, count in row.counts.items())
    faults = "".join(f"\n    DID NOT HOLD: {fault}" for fault in row.faults[:10])
    more = f"\n    … and {len(row.faults) - 10} more" if len(row.faults) > 10 else ""
    left = ", ".join(row.left) or "nothing"
    return f"{row.id}  {row.done} ({seconds:.0f} s)\n    {counts}{faults}{more}\n    left: {left}"


def _number(count: float) -> str:
    return f"{count:,}" if isinstance(count, int) else f"{count:,.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
