"""R5: random declarations and event streams from a hostile provider over the real wire."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.survive import judging
from bench.survive.hostility import deed
from bench.survive.survived import Survived
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Failure, LeadUp, Outcome, Success
from pluggableharness.kernel.plugins.contract import check_contract
from pluggableharness.kernel.plugins.process import ProviderProcess, start_provider
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.wire import tool_pb2

ID = "R5"
SIZE = 100_000

_LIAR = ProviderSpec("liar", (sys.executable, str(Path(__file__).with_name("liar.py"))))
_AT_ONCE = 32


async def run(count: int) -> Survived:
    """Check so many declarations, and hear as many streams out."""
    trial = _Trial()
    process = await start_provider(_LIAR, _file)
    try:
        seeds = iter(range(count))
        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(trial.work(process, seeds))
        if not process.usable:
            trial.faults.append("the provider's process did not live to the end")
    finally:
        await process.close()
    done = f"heard {count} random streams out, and checked as many random declarations"
    return Survived(ID, done, dict(sorted(trial.counts.items())), tuple(trial.faults))


class _Trial:
    """Compares what the kernel makes of each deed with what it is."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    async def work(self, process: ProviderProcess, seeds: Iterator[int]) -> None:
        """Take seeds until there are none."""
        for seed in seeds:
            try:
                await self.one(process, seed)
            except Exception as error:
                # The kernel's own: nothing that a provider sends may raise here.
                self.faults.append(f"seed {seed}: the kernel raised {error!r}")

    async def one(self, process: ProviderProcess, seed: int) -> None:
        """Judge one deed."""
        done = deed(seed)
        contract = check_contract("liar", tool_pb2.GetSchemaResponse(tools=[done.tool]))
        believed = bool(contract.operations)
        self.counts[f"declarations {'believed' if believed else 'refused'}"] += 1
        if believed is not judging.is_declaration(done.tool):
            self.faults.append(f"seed {seed}: the declaration was wrongly judged ({believed=})")
        if not believed:
            return
        outcome = await process.calls.invoke(_call(contract.operations[0], seed), _ignore)
        self.judge(seed, outcome, judging.result(done))

    def judge(self, seed: int, outcome: Outcome, expected: dict[str, object] | None) -> None:
        """Count the outcome, or note that it is wrong."""
        if isinstance(outcome, Success):
            self.counts["results"] += 1
            if expected is None:
                self.faults.append(f"seed {seed}: a broken stream became a result")
            elif outcome.payload != expected:
                self.faults.append(f"seed {seed}: the result is not what was sent")
        else:
            self.counts[_told(outcome)] += 1
            if expected is not None:
                self.faults.append(f"seed {seed}: a sound result was lost: {outcome.message}")


def _told(failure: Failure) -> str:
    details = failure.details or {}
    if "broken" in details or "violations" in details:
        return "streams refused"
    return "errors"


def _call(operation: Operation, seed: int) -> Call:
    arguments = {"seed": seed}
    context = CallContext("survive", "survive", "/")
    return Call(f"call-{seed}", operation, arguments, context)


async def _ignore(event: LeadUp) -> None:
    pass


async def _file(
    session: str, producer: Producer, kind: EventKind, version: str, payload: bytes
) -> Event:
    raise AssertionError("this provider emits nothing")
