"""R7: commands that print without end, fork without end, or heed no TERM."""

import asyncio
import resource
import shutil
import tempfile
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from uuid import uuid4

from bench.survive.hostile_programs import CHAINS, FOREST
from bench.survive.processes import with_mark
from bench.survive.survived import Survived
from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import Outcome, OutputChunk, RunningCall, Tool, opened

ID = "R7"
SIZE = 60

_TIMEOUT_S = 0.5
_ENDED_WITHIN_S = 10.0
_MORE_MEMORY = 128 * 1024**2

_WAYS = {
    "prints": "exec -a {mark} yes",
    "prints to both": "(exec -a {mark} yes) & exec yes >&2",
    "prints no line": "exec -a {mark} cat /dev/zero",
    "forks in sessions": "exec -a {mark} python3 -c '{forest}' {mark}",
    "forks and exits": "python3 -c '{chains}' {mark}; exec -a {mark} sleep 600",
    "forks in a shell": "while :; do (setsid bash -c 'exec -a {mark} sleep 0.1' &); done",
    "heeds no TERM": 'trap "" TERM; (exec -a {mark} sleep 600) & while :; do sleep 600; done',
}


async def run(count: int) -> Survived:
    """Run so many such commands, by turns in a sandbox and in none."""
    counts: Counter[str] = Counter()
    faults: list[str] = []
    left: list[str] = []
    longest_s, began_with = 0.0, _peak()
    with tempfile.TemporaryDirectory() as root:
        for sandbox, (name, way) in islice(_turns(), count):
            mark = f"endless-{uuid4().hex}"
            async with opened(provider, cwd=root, settings=sandbox) as tool:
                fault, took_s = await _one(tool, _filled(way, mark))
            faults += [f"{name}, {sandbox}: {fault}"] if fault else []
            left += [f"{name}: process {pid}" for pid in with_mark(mark)]
            counts[name] += 1
            longest_s = max(longest_s, took_s)
            shutil.rmtree(Path(root, ".agent"), ignore_errors=True)
    grown = _peak() - began_with
    if grown > _MORE_MEMORY:
        faults.append(f"memory grew by {grown:,} bytes")
    told = {**counts, "longest in s": longest_s, "more memory in MiB": grown / 1024**2}
    return Survived(ID, f"ran {count} commands without end", told, tuple(faults), tuple(left))


def _turns() -> "cycle[tuple[dict[str, str], tuple[str, str]]]":
    modes: tuple[dict[str, str], ...] = ({}, {"sandbox": "none"})
    return cycle([(mode, way) for way in _WAYS.items() for mode in modes])


def _filled(way: str, mark: str) -> str:
    for name, text in (("mark", mark), ("forest", FOREST), ("chains", CHAINS)):
        way = way.replace(f"{{{name}}}", text)
    return way


async def _one(tool: Tool, command: str) -> tuple[str, float]:
    """What was wrong with how it ended, if anything, and how long it took."""
    began = time.monotonic()
    call = tool.start("bash", command=command, timeout_s=_TIMEOUT_S)
    ended = asyncio.ensure_future(_outcome(call))
    while not ended.done():
        # What was streamed has been passed on; keeping it all would be the listener's doing.
        call.events[:] = [one for one in call.events if not isinstance(one, OutputChunk)]
        await asyncio.wait({ended}, timeout=0.01)
    outcome = ended.result()
    took_s = time.monotonic() - began
    if outcome.error is None or outcome.error.category is not Category.TIMEOUT:
        return "it was not told as a timeout", took_s
    if took_s > _ENDED_WITHIN_S:
        return f"it took {took_s:.1f} s to end", took_s
    return "", took_s


async def _outcome(call: RunningCall) -> Outcome:
    return await call


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
