"""S12: what it takes to find out that calls may run, without running them."""

import asyncio
import time

from bench.reading import Reading, median
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.operation import (
    Concurrency,
    Kind,
    Operation,
    Risk,
    Schema,
    SchemaType,
)
from pluggableharness.kernel.planning import split, waits_for
from pluggableharness.kernel.scheduling import LockTable, lock_request

_CALLS = 10_000
_WRITE = Operation(
    "toy",
    "write",
    Kind.RESOURCE,
    Risk.LOW,
    "Write a file.",
    Schema(SchemaType.OBJECT, properties={"path": Schema(SchemaType.STRING)}, required=("path",)),
    Schema(SchemaType.OBJECT),
    concurrency=Concurrency(safe=True, key_fields=("path",)),
)


async def rows() -> list[Reading]:
    """One message of 10,000 calls with distinct keys: ordered, locked, let go."""
    each = median([await _scheduled() for _ in range(5)]) / _CALLS * 1e6
    return [Reading("S12", "scheduling one of 10,000 calls", each, "µs", each, "<= 30", each <= 30)]


async def _scheduled() -> float:
    context = CallContext(ulid(), ulid(), "/work")
    calls = [Call(ulid(), _WRITE, {"path": f"file-{n}"}, context) for n in range(_CALLS)]
    table, entered, go = LockTable(), 0, asyncio.Event()

    async def hold(call: Call) -> None:
        nonlocal entered
        async with table.hold(lock_request(call)):
            entered += 1
            await go.wait()

    # What the tasks themselves cost is the event loop's, and is there without any lock.
    began = time.perf_counter()
    waits = waits_for(split(calls).resources)
    ordering = time.perf_counter() - began
    locked = await _seconds([hold(call) for call in calls], go)
    assert entered == _CALLS
    assert not any(waits)
    go.clear()
    bare = await _seconds([_wait(go) for _ in calls], go)
    return ordering + locked - bare


async def _wait(go: asyncio.Event) -> None:
    await go.wait()


async def _seconds(work: list, go: asyncio.Event) -> float:  # type: ignore[type-arg]
    began = time.perf_counter()
    tasks = [asyncio.ensure_future(piece) for piece in work]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*tasks)
    return time.perf_counter() - began
