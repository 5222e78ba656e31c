"""A provider in a test, without a process or gRPC, under the real event contract (P32).

    async with opened(provider, cwd=tmp_path) as tool:
        outcome = await tool("read_file", path="a.txt")
        assert outcome.payload["content"] == "…"

A misuse of the contract (an event after the end, a result that was not declared) is raised from
the call, where a kernel would read `unknown`. Arguments, payloads and details go through the
wire's own values and come back as the other side would see them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from pluggableharness.sdk.callbacks import (
    CallRef,
    Emitted,
    EventKind,
    LogLevel,
    SessionOutcome,
    SessionRequest,
)
from pluggableharness.sdk.calling import Call, Ending, Runner
from pluggableharness.sdk.events import (
    Event,
    ExitStatus,
    Failure,
    OutputChunk,
    PartialResult,
    Progress,
    Result,
)
from pluggableharness.sdk.failures import Category, KernelUnavailable, Misuse
from pluggableharness.sdk.provider import Provider
from pluggableharness.sdk.render import Node
from pluggableharness.wire.structs import from_struct, to_struct

__all__ = [
    "Event",
    "ExitStatus",
    "Failure",
    "LogEntry",
    "Outcome",
    "OutputChunk",
    "PartialResult",
    "Progress",
    "Result",
    "RunningCall",
    "Tool",
    "opened",
]

RunSession = Callable[[SessionRequest], Awaitable[SessionOutcome]]


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What a call logged."""

    call_id: str
    level: LogLevel
    message: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call: `events` ends with its terminal one, unless it was cancelled."""

    events: list[Event]
    exception: BaseException | None = None
    """What the function raised, if it did."""
    report: Mapping[str, Any] | None = None
    """What a cancelled call said that it had done (P26)."""
    cancelled: bool = False

    @property
    def payload(self) -> dict[str, Any]:
        """The result. Fails the test when the call has none."""
        last = self.events[-1] if self.events else None
        assert isinstance(last, Result), f"the call has no result: {self.error}"
        return dict(last.payload)

    @property
    def error(self) -> Failure | None:
        """The failure, or None. A cancelled call has one with its report in the details."""
        if self.cancelled:
            return Failure(Category.CANCELLED, "cancelled", details=self.report)
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Failure) else None

    @property
    def failure(self) -> Failure:
        """The failure. Fails the test when the call has none."""
        assert self.error is not None, f"the call did not fail: {self.events}"
        return self.error

    def output(self, stream: str | None = None) -> bytes:
        """Return the output chunks joined, of one stream or of both in order."""
        chunks = (event for event in self.events if isinstance(event, OutputChunk))
        return b"".join(chunk.data for chunk in chunks if stream in (None, chunk.stream))


class RunningCall:
    """A call that was started; awaiting it gives its outcome."""

    def __init__(self, run: Callable[[RunningCall], Awaitable[Outcome]], call_id: str) -> None:
        self.call_id = call_id
        self.events: list[Event] = []
        self._arrived = asyncio.Event()
        self._ending = Ending()
        self._task: asyncio.Task[Outcome] = asyncio.ensure_future(run(self))
        self._task.add_done_callback(lambda _: self._arrived.set())

    def __await__(self) -> Generator[Any, None, Outcome]:
        """Wait for the end."""
        return self._finished().__await__()

    async def until(self, wanted: Callable[[Event], bool]) -> Event:
        """Wait for an event that `wanted` is true of, and return it.

        Raises:
            AssertionError: the call ended without such an event.
        """
        seen = 0
        while True:
            self._arrived.clear()
            for event in self.events[seen:]:
                if wanted(event):
                    return event
            seen = len(self.events)
            assert not self._task.done(), f"the call ended without the event: {self.events}"
            await self._arrived.wait()

    async def cancel(self) -> Outcome:
        """Cancel as a kernel does (P25) and wait for the function's end."""
        self._task.cancel()
        return await self._finished()

    async def _finished(self) -> Outcome:
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if not self._task.done():
                raise
            return Outcome(self.events, report=_plain(self._ending.report), cancelled=True)

    async def _send(self, event: Event) -> None:
        # A real send gives way to the loop, and so must this one. It does so before and not after,
        # so that a test that waits for the event finds the function at its next wait.
        await asyncio.sleep(0)
        self.events.append(_as_received(event))
        self._arrived.set()


@dataclass(slots=True)
class _Kernel:
    """The callbacks of a kernel, kept in lists."""

    logged: list[LogEntry] = field(default_factory=list)
    emitted: list[tuple[CallRef, EventKind, bytes, str]] = field(default_factory=list)
    run: RunSession | None = None

    def log(self, call: CallRef, level: LogLevel, message: str, fields: Mapping[str, Any]) -> None:
        self.logged.append(LogEntry(call.call_id, level, message, from_struct(to_struct(fields))))

    async def emit(
        self, call: CallRef, kind: EventKind, payload: bytes, schema_version: str
    ) -> Emitted:
        self.emitted.append((call, kind, payload, schema_version))
        return Emitted(f"event-{len(self.emitted)}", len(self.emitted))

    async def run_session(self, call: CallRef, request: SessionRequest) -> SessionOutcome:
        if self.run is None:
            raise KernelUnavailable("this test has no kernel: pass run_session= to opened()")
        return await self.run(request)

    async def report_cancelled(self, call: CallRef, report: Mapping[str, Any]) -> None:
        """Nothing to do: the outcome of a cancelled call holds its report."""


class Tool:
    """An open provider: call it with an operation's name and arguments."""

    def __init__(
        self,
        runner: Runner,
        kernel: _Kernel,
        cwd: Path,
        session_id: str,
        places: Mapping[str, str],
    ) -> None:
        self._runner = runner
        self._kernel = kernel
        self._cwd = cwd
        self._session_id = session_id
        self._places = places
        self._numbers = count(1)
        self._running: set[RunningCall] = set()

    @property
    def logged(self) -> list[LogEntry]:
        """What the calls logged."""
        return self._kernel.logged

    @property
    def emitted(self) -> list[tuple[CallRef, EventKind, bytes, str]]:
        """What the calls emitted: call, kind, payload, schema version."""
        return self._kernel.emitted

    async def __call__(
        self, tool_name: str, /, *, session_id: str | None = None, **arguments: Any
    ) -> Outcome:
        """Run a call to its end."""
        return await self.start(tool_name, session_id=session_id, **arguments)

    def start(
        self, tool_name: str, /, *, session_id: str | None = None, **arguments: Any
    ) -> RunningCall:
        """Start a call."""
        call = self._call(tool_name, session_id, arguments)

        async def run(running: RunningCall) -> Outcome:
            try:
                return await self._run(call, running)
            finally:
                self._running.discard(running)

        running = RunningCall(run, call.ref.call_id)
        self._running.add(running)
        return running

    async def preview(
        self, tool_name: str, /, *, session_id: str | None = None, **arguments: Any
    ) -> Node | None:
        """Return what the operation's preview makes of a call (P29)."""
        return await self._runner.preview(self._call(tool_name, session_id, arguments))

    def render(self, tool_name: str, payload: Mapping[str, Any]) -> Node | None:
        """Return what the operation's render makes of a payload (P30)."""
        return self._runner.render(self._runner.provider.operations[tool_name], dict(payload))

    async def _run(self, call: Call, running: RunningCall) -> Outcome:
        terminal = await self._runner.run(call, running._send, running._ending)
        error = running._ending.error
        if isinstance(error, Misuse):
            raise error
        await running._send(terminal)
        return Outcome(running.events, exception=error)

    def _call(self, tool_name: str, session_id: str | None, arguments: dict[str, Any]) -> Call:
        number = next(self._numbers)
        ref = CallRef(f"call-{number}", session_id or self._session_id, "turn-1")
        given = from_struct(to_struct(arguments))
        return Call(ref, tool_name, given, str(self._cwd), self._places)

    async def _close(self) -> None:
        for running in tuple(self._running):
            await running.cancel()


@asynccontextmanager
async def opened(
    provider: Provider[Any],
    *,
    cwd: Path | str = "/",
    settings: Mapping[str, Any] | None = None,
    session_id: str = "session-1",
    run_session: RunSession | None = None,
    places: Mapping[str, str] | None = None,
) -> AsyncIterator[Tool]:
    """Open a provider for calls; calls that still run at the end are cancelled.

    `settings` is the decoded provider block, `cwd` the working directory of the calls, and
    `run_session` answers what the calls ask of the kernel. `places` are what a kernel that looks
    says of the calls' paths, from absolute text to real path; they may be changed meanwhile.

    Raises:
        DeclarationError: with everything that is wrong with what the provider declares.
        InvalidArguments: the settings are not what the provider declares.
    """
    provider.check()
    kernel = _Kernel(run=run_session)
    runner = Runner(provider, kernel)
    runner.configure(from_struct(to_struct(settings or {})))
    tool = Tool(runner, kernel, Path(cwd), session_id, {} if places is None else places)
    try:
        yield tool
    finally:
        await tool._close()


def _as_received(event: Event) -> Event:
    """Return an event as it comes off the wire; what the wire cannot carry is refused."""
    match event:
        case PartialResult(payload):
            return PartialResult(from_struct(to_struct(payload)))
        case Result(payload):
            return Result(from_struct(to_struct(payload)))
        case Failure(category, message, retryable, details):
            return Failure(category, message, retryable, _plain(details))
        case _:
            return event


def _plain(details: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if details is None else from_struct(to_struct(details))
