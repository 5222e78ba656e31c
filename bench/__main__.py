"""`make bench`: every row that is built, beside its peer, as a table and as JSON.

Give row modules by name to measure only those: `python -m bench calls cold`.
"""

import asyncio
import dataclasses
import importlib
import json
import sys
from pathlib import Path

from bench.reading import Reading

MODULES = (
    "calls",
    "cold",
    "sandbox",
    "files",
    "bulk",
    "search",
    "endurance",
    "record",
    "scheduling",
    "policy",
)
_RESULT = Path(__file__).parents[1] / "build" / "bench.json"


def main(names: list[str]) -> int:
    """Measure, print and write down; 2 for a module that there is not."""
    if strange := [name for name in names if name not in MODULES]:
        print(f"there are no rows of {', '.join(strange)}; there are: {', '.join(MODULES)}")
        return 2
    readings: list[Reading] = []
    print(_line("id", "what", "ours", "peer", "value", "reach"))
    for name in names or MODULES:
        module = importlib.import_module(f"bench.rows.{name}")
        for reading in asyncio.run(module.rows()):
            print(_shown(reading), flush=True)
            readings.append(reading)
    _RESULT.parent.mkdir(exist_ok=True)
    _RESULT.write_text(json.dumps([dataclasses.asdict(one) for one in readings], indent=2) + "\n")
    missed = sum(not reading.reached for reading in readings)
    print(f"{len(readings) - missed} of {len(readings)} reached; written to build/bench.json")
    return 0


def _shown(reading: Reading) -> str:
    peer = "" if reading.peer is None else f"{reading.peer:,.3g} {reading.peer_name}"
    ours = f"{reading.ours:,.4g} {reading.unit}"
    reach = reading.reach if reading.reached else f"{reading.reach}  NOT REACHED"
    return _line(reading.id, reading.what, ours, peer, f"{reading.value:,.3g}", reach)


def _line(row: str, what: str, ours: str, peer: str, value: str, reach: str) -> str:
    return f"{row:<4} {what:<40} {ours:>14} {peer:>30} {value:>8}  {reach}".rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
