"""One call over gRPC, from the send to its outcome: deadline, back-pressure, cancelling, death.

A provider's faults are outcomes here, never exceptions. What the stream may hold is the
stream guard's matter, who the process is the supervisor's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any, Final, assert_never

from pluggableharness.kernel.codec.tool import fill_call, places_to_metadata
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import CallCancelled, is_cancelled
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import (
    ErrorCategory,
    Failure,
    LeadUp,
    Outcome,
    Success,
)
from pluggableharness.kernel.plugins.flights import GRACE_S, CutShort, Flight, Flights, Slot
from pluggableharness.kernel.plugins.life import KILL_S, Life
from pluggableharness.kernel.plugins.patience import Patient
from pluggableharness.kernel.plugins.stream_guard import MAY_HAVE_HAPPENED, StreamGuard
from pluggableharness.kernel.plugins.transport import (
    MAX_MESSAGE_BYTES,
    TOOL_SERVICE,
    Channel,
    grpc_aio,
)
from pluggableharness.wire import tool_pb2

Heard = Callable[[LeadUp], Awaitable[None]]

MAX_IN_FLIGHT: Final = 256
"""Calls in one process at a time. Servers that are not ours drop requests at random once
about a thousand wait; the others wait here, where nothing is lost (S15)."""

_CATCH_UP_S: Final = 0.02
"""How long a cancelled call may still end by itself: what is on its way takes less."""

_JUST_ENDED: Final = "it had just ended, and its result was not taken"

NOTICE_S: Final = 0.5
"""A broken transport and the death that broke it are noticed apart; this long they may differ."""


class Calls:
    """The way into one process."""

    def __init__(self, channel: Channel, flights: Flights, life: Life) -> None:
        grpc = grpc_aio()
        self.any_succeeded = False
        """Whether a call has succeeded here, so that a crash may be followed by a restart (K15)."""
        self._invoke = channel.unary_stream(f"{TOOL_SERVICE}Invoke")
        self._channel = channel
        self._flights = flights
        self._life = life
        self._slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._end_of_stream = grpc.aio.EOF
        self._rpc_error: type[Exception] = grpc.aio.AioRpcError
        self._ready = grpc.ChannelConnectivity.READY
        life.on_death(self._on_death)

    async def invoke(self, call: Call, heard: Heard) -> Outcome:
        """Run a call to its end (P10-P16, P25-P27).

        `heard` is awaited for each event before the next is read (P14). The deadline counts
        from the send (K14). Cancelling the task cancels the RPC, waits up to 5 s for the
        report and raises CallCancelled with it.
        """
        try:
            request = tool_pb2.InvokeRequest()
            fill_call(request.call, call)
            data = request.SerializeToString()
        except ValueError as error:
            return Failure(ErrorCategory.INVALID_ARGUMENTS, f"{_name(call)}: {error}")
        await self._take_slot(call)
        slot = Slot(self._slots)
        try:
            rpc = self._invoke(data, metadata=places_to_metadata(call))
            outcome = await self._fly(Flight(call, rpc, slot), heard)
        finally:
            slot.give_back()
        self.any_succeeded |= isinstance(outcome, Success)
        return outcome

    async def _take_slot(self, call: Call) -> None:
        try:
            await self._slots.acquire()
        except asyncio.CancelledError:
            failure = Failure(
                ErrorCategory.CANCELLED, f"{_name(call)} was cancelled before it was sent."
            )
            raise CallCancelled(failure) from None

    async def _fly(self, flight: Flight, heard: Heard) -> Outcome:
        call = flight.call
        guard = StreamGuard(call.operation)
        self._flights.begin(flight)
        if call.deadline_s is not None:
            # Later by a moment: a function whose own limit is the same ends just then.
            self._flights.appoint(flight, call.deadline_s + _CATCH_UP_S, _over_deadline)
        try:
            outcome = await self._listen(flight, guard, heard)
        except asyncio.CancelledError:
            raise CallCancelled(await self._cancelled(flight, guard)) from None
        except BaseException:
            # Only `heard` raises; nobody waits for what the provider then says.
            self._withdraw(flight)
            raise
        if flight.report is None:
            self._flights.end(flight)
        if flight.awaited:
            await self._part(flight)
        return outcome

    async def _part(self, flight: Flight) -> None:
        """See off the child sessions of a call that ended before them (K24)."""
        try:
            await _ended(flight)
        except asyncio.CancelledError:
            raise CallCancelled(_cancelled(flight.call, _JUST_ENDED)) from None

    async def _listen(self, flight: Flight, guard: StreamGuard, heard: Heard) -> Outcome:
        read = flight.rpc.read
        try:
            while True:
                reading = Patient(read(), _CATCH_UP_S)
                data = await reading
                if data is self._end_of_stream:
                    break
                event = guard.event(data)
                if reading.cancelled:
                    raise asyncio.CancelledError
                if event is not None:
                    await heard(event)
                elif not flight.closing:
                    flight.closing = True
                    self._flights.appoint(flight, GRACE_S, _left_open)
        except self._rpc_error as error:
            flight.over = True
            if reading.cancelled:
                raise asyncio.CancelledError from None
            return await self._failed(flight, guard, error)
        except asyncio.CancelledError:
            if flight.cut_short is None or is_cancelled():
                raise
            return await self._cut(flight, guard, flight.cut_short)
        flight.over = True
        if reading.cancelled:
            raise asyncio.CancelledError
        return guard.closed()

    async def _cut(self, flight: Flight, guard: StreamGuard, why: CutShort) -> Outcome:
        match why:
            case CutShort.DEADLINE:
                return _timed_out(flight.call, await self._report(flight))
            case CutShort.LEFT_OPEN:
                await self._report(flight)
                return guard.left_open(GRACE_S)
            case CutShort.DEATH:
                return self._life.crash(flight.call)
            case _:
                assert_never(why)

    async def _cancelled(self, flight: Flight, guard: StreamGuard) -> Failure:
        flight.due = inf
        try:
            await self._catch_up(flight, guard)
            if guard.ended or flight.over:
                # The function has ended, so nothing will be reported; no result counts (P26).
                flight.rpc.cancel()
                self._flights.end(flight)
                await _ended(flight)
                return _cancelled(flight.call, _JUST_ENDED)
            report = await self._report(flight)
            await _ended(flight)
        except asyncio.CancelledError:
            # Cancelled once more: whoever asks does not want to wait.
            self._withdraw(flight)
            return _cancelled(flight.call, "what it had done was not waited for")
        if report is None:
            return _cancelled(flight.call, self._why_silent())
        return _cancelled(flight.call, "details say what it had done", report)

    async def _catch_up(self, flight: Flight, guard: StreamGuard) -> None:
        """See whether the call has ended while its listener was busy.

        Else a provider that is long done would be taken for one that ignores the cancelling.
        """
        try:
            async with asyncio.timeout(_CATCH_UP_S):
                while not guard.ended and not flight.rpc.done():
                    data = await flight.rpc.read()
                    if data is self._end_of_stream:
                        flight.over = True
                    else:
                        guard.event(data)
        except self._rpc_error:
            flight.over = True
        except TimeoutError:
            pass

    async def _report(self, flight: Flight) -> Failure | None:
        """End the RPC and wait for what the provider says of it (P26)."""
        report = self._withdraw(flight)
        await asyncio.wait([report], timeout=GRACE_S + KILL_S)
        return report.result() if report.done() else None

    def _withdraw(self, flight: Flight) -> "asyncio.Future[Failure | None]":
        """End the RPC from this side; a provider that then stays silent is killed (P27)."""
        flight.rpc.cancel()
        self._flights.forsake(flight)
        if flight.report is not None:
            return flight.report
        report = flight.expect_report()
        if self._life.death.done():
            self._flights.abandon()
        else:
            self._flights.appoint(flight, GRACE_S, self._condemn)
        return report

    def _condemn(self, flight: Flight) -> None:
        self._life.condemn(f"ignored the cancelling of a call of {_name(flight.call)}")

    async def _failed(self, flight: Flight, guard: StreamGuard, error: Any) -> Outcome:
        """What an RPC's error means: the one place where gRPC's codes are translated."""
        code, message = error.code().name, error.details() or ""
        if await self._is_gone(code):
            return self._life.crash(flight.call)
        if code == "RESOURCE_EXHAUSTED" and "larger than max" in message:
            return _too_large(flight.call, message)
        if code == "CANCELLED":
            return _overloaded(flight.call)
        if code == "UNIMPLEMENTED":
            return Failure(
                ErrorCategory.NOT_FOUND, f"{_name(flight.call)}: its provider serves no Invoke."
            )
        return guard.failed(code, message)

    async def _is_gone(self, code: str) -> bool:
        """Whether an RPC failed because its process or the connection to it did."""
        if self._life.death.done():
            return True
        if code not in ("UNAVAILABLE", "CANCELLED"):
            return False
        if await self._life.died(NOTICE_S):
            return True
        if code == "CANCELLED" or self._channel.get_state() is self._ready:
            return False
        self._life.condemn("broke its connection")
        await self._life.died(KILL_S)
        return True

    def _on_death(self) -> None:
        self._flights.abandon()
        # What had been sent before the end may still be read: the transport's own end comes
        # first, unless a child of the process holds the socket open.
        asyncio.get_running_loop().call_later(NOTICE_S, self._cut_all)

    def _cut_all(self) -> None:
        for flight in self._flights:
            flight.cut(CutShort.DEATH)

    def _why_silent(self) -> str:
        if self._life.death.done():
            return f"its provider {self._life.manner}, so what it had done is not known"
        return "its provider did not say what it had done"


async def _ended(flight: Flight) -> None:
    """Wait for the end of what the call had waited for, and nobody does any more."""
    tasks = [awaited.task for awaited in flight.awaited]
    if tasks:
        await asyncio.wait(tasks)


def _over_deadline(flight: Flight) -> None:
    flight.cut(CutShort.DEADLINE)


def _left_open(flight: Flight) -> None:
    flight.cut(CutShort.LEFT_OPEN)


def _name(call: Call) -> str:
    return call.operation.full_name


def _warning(call: Call) -> str:
    return f" {MAY_HAVE_HAPPENED}" if call.operation.kind is Kind.RESOURCE else ""


def _cancelled(call: Call, what: str, report: Failure | None = None) -> Failure:
    message = f"{_name(call)} was cancelled; {what}.{_warning(call)}"
    details = None if report is None else report.details
    return Failure(ErrorCategory.CANCELLED, message, details=details)


def _timed_out(call: Call, report: Failure | None) -> Failure:
    done = "details say what it had done" if report else "its provider did not say what it had done"
    return Failure(
        ErrorCategory.TIMEOUT,
        f"{_name(call)} was cancelled at its deadline of {call.deadline_s:g} s; {done}."
        f"{_warning(call)}",
        details=None if report is None else report.details,
    )


def _too_large(call: Call, message: str) -> Failure:
    return Failure(
        ErrorCategory.EXECUTION_FAILED,
        f"{_name(call)}: a message is larger than the {MAX_MESSAGE_BYTES // 2**20} MiB that may "
        f"be sent at once ({message}); ask for less at a time.{_warning(call)}",
    )


def _overloaded(call: Call) -> Failure:
    return Failure(
        ErrorCategory.EXECUTION_FAILED,
        f"{_name(call)}: its provider dropped the call, as an overloaded one does; try again.",
        retryable=True,
    )
