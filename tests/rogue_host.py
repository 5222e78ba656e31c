"""Starts the rogue provider under the real host, for the tests that need both."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, LeadUp, Outcome
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.process import start_provider
from pluggableharness.kernel.plugins.spec import Instance, ProviderSpec
from pluggableharness.kernel.plugins.supervisor import ProviderProcesses

ROGUE = Path(__file__).parent / "providers" / "rogue.py"
LIMIT_S = 30.0
"""Nothing here may take longer; only a hang does."""

MINE = f"of-{os.getpid()}"
"""In the command line of every rogue of this test run, and of no other run's."""

_numbers = count(1)


def rogue(
    name: str = "rogue", instance: Instance = Instance.SHARED, **options: Any
) -> ProviderSpec:
    config = options.pop("config", {})
    environment = options.pop("environment", {})
    command = (sys.executable, str(ROGUE), json.dumps({"mark": MINE, **options}))
    return ProviderSpec(name, command, config, environment, instance)


class Host:
    """The providers of one test, and what they emitted."""

    def __init__(self, *specs: ProviderSpec, **more: Any) -> None:
        self.providers = ProviderProcesses(specs, self._file, **more)
        self.filed: list[tuple[str, Producer, EventKind, str, bytes]] = []
        self.full: Exception | None = None
        self.operations: dict[str, Operation] = {}

    async def load(self) -> None:
        for operation in await self.providers.operations():
            self.operations[operation.full_name] = operation

    async def _file(
        self, session: str, producer: Producer, kind: EventKind, version: str, payload: bytes
    ) -> Event:
        if self.full is not None:
            raise self.full
        self.filed.append((session, producer, kind, version, payload))
        number = len(self.filed)
        return Event(number, f"event-{number}", 0, kind.value, producer, version, payload, b"")

    def make(self, operation: str = "rogue.run", *steps: Any, **more: Any) -> Call:
        session, deadline = more.pop("session", "session"), more.pop("deadline_s", None)
        arguments = {**more, **({"steps": list(map(list, steps))} if steps else {})}
        context = CallContext(session, "turn", "/work")
        declared = self.operations[operation]
        return Call(f"call-{next(_numbers)}", declared, arguments, context, deadline_s=deadline)

    async def run(self, operation: str = "rogue.run", *steps: Any, **more: Any) -> Outcome:
        return await self.invoke(self.make(operation, *steps, **more))

    async def invoke(self, call: Call, heard: Any = None) -> Outcome:
        async with asyncio.timeout(LIMIT_S), self.providers.locked(call) as running:
            return await running.invoke(call, heard or ignore)


async def ignore(event: LeadUp) -> None:
    pass


def failure(outcome: Outcome, category: ErrorCategory) -> Failure:
    assert isinstance(outcome, Failure), outcome
    assert outcome.category is category, outcome
    return outcome


@asynccontextmanager
async def hosted(*specs: ProviderSpec, **more: Any) -> AsyncIterator[Host]:
    host = Host(*(specs or (rogue(),)), **more)
    try:
        await host.load()
        yield host
    finally:
        async with asyncio.timeout(LIMIT_S):
            await host.providers.close()


def processes_with(text: str) -> list[int]:
    """The living processes in whose command line the text stands."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if text.encode() in line and state not in "ZX":
                found.append(int(entry.name))
    return found


def ended(pid: int) -> "asyncio.Future[None]":
    """Done once the process has ended."""
    loop = asyncio.get_running_loop()
    future, handle = loop.create_future(), os.pidfd_open(pid)

    def end() -> None:
        loop.remove_reader(handle)
        os.close(handle)
        future.set_result(None)

    loop.add_reader(handle, end)
    return future


async def refused(spec: ProviderSpec, timeout_s: float = LIMIT_S) -> str:
    with pytest.raises(ProviderLoadError) as error:
        async with asyncio.timeout(LIMIT_S):
            await start_provider(spec, Host()._file, timeout_s=timeout_s)
    assert error.value.provider == spec.name
    return str(error.value)


def command(*argv: str) -> ProviderSpec:
    return ProviderSpec("broken", argv)
