"""The calls that one process has in flight, and who may therefore call back (P26).

Bookkeeping on the event loop; it starts and reads no RPC itself.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from enum import Enum
from math import inf
from typing import Any, Final, Protocol, TypeVar

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import is_cancelled
from pluggableharness.kernel.domain.outcome import Failure

Result = TypeVar("Result")

GRACE_S: Final = 5.0
"""How long a cancelled call may take to report, and callbacks may trail a call's end (P26)."""


class Rpc(Protocol):
    """A running RPC, as gRPC's own class has it."""

    def read(self) -> Coroutine[Any, None, Any]:
        """The next message, or gRPC's mark of the stream's end."""
        ...

    def cancel(self) -> bool:
        """End it from this side."""
        ...

    def done(self) -> bool:
        """Whether its status is known."""
        ...


class CutShort(Enum):
    """Why this side ended an RPC without having been asked to."""

    DEADLINE = "deadline"
    LEFT_OPEN = "left_open"
    DEATH = "death"


class Flight:
    """One call between its send and its end.

    `report` exists once the call was withdrawn; it holds what the provider says of it, or
    None when the process died before saying anything. `closing` tells that nothing but the
    end of its stream may come, `over` that this end came, from the provider. `due` is when
    something is to happen unless the call ends before, by the clock of its Flights; while it
    waits for what is `awaited`, `left_s` is how long until then (K14).
    """

    __slots__ = (
        "awaited",
        "call",
        "closing",
        "cut_short",
        "due",
        "left_s",
        "over",
        "report",
        "rpc",
        "slot",
        "then",
    )

    def __init__(self, call: Call, rpc: Rpc, slot: "Slot | None" = None) -> None:
        self.call = call
        self.rpc = rpc
        self.cut_short: CutShort | None = None
        self.closing = False
        self.over = False
        self.report: asyncio.Future[Failure | None] | None = None
        self.due = inf
        self.then: Callable[[Flight], None] = _nothing
        self.slot = slot
        self.left_s: float | None = None
        self.awaited: list[Awaited] = []

    @property
    def may_ask(self) -> bool:
        """Whether it still runs for somebody: only then may work be started on its behalf."""
        return self.report is None and self.cut_short is None and not self.closing and not self.over

    def cut(self, why: CutShort) -> None:
        """End the RPC, for the first reason that comes."""
        if self.cut_short is None:
            self.cut_short = why
            self.rpc.cancel()

    def expect_report(self) -> "asyncio.Future[Failure | None]":
        """From now on the provider owes a report of this call."""
        if self.report is None:
            self.report = asyncio.get_running_loop().create_future()
        return self.report


def _nothing(flight: Flight) -> None:
    """What is to happen when nothing is."""


class Slot:
    """A call's place among those that may be in flight at once; it is given back once."""

    __slots__ = ("_slots",)

    def __init__(self, slots: asyncio.Semaphore) -> None:
        """Stand for a place that has been taken."""
        self._slots: asyncio.Semaphore | None = slots

    def give_back(self) -> None:
        """Let another call have it; again is harmless."""
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.release()


class Forsaken(Exception):
    """Nobody waits any more for what was asked for."""


class Awaited:
    """Work that calls wait for: a child session. It ends with the last of them (K17)."""

    __slots__ = ("_callers", "task")

    def __init__(self, task: "asyncio.Task[Any]", callers: Iterable[Flight]) -> None:
        self.task = task
        self._callers = set(callers)

    def forsake(self, caller: Flight) -> None:
        """This call waits no more."""
        self._callers.discard(caller)
        if not self._callers:
            self.task.cancel()


class Flights:
    """All calls of one process that are in flight.

    Their appointments share one timer, set for the earliest and not moved when that call ends
    first: a timer for each would cost a call as much as its validation does.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """Start with none; `now` is a clock in seconds, mostly the event loop's."""
        self._flying: dict[str, Flight] = {}
        self._sessions: dict[str, int] = {}
        self._left: dict[str, float] = {}
        self._now = now
        self._timer: asyncio.TimerHandle | None = None
        self._armed = inf

    def __iter__(self) -> Iterator[Flight]:
        """Those in flight now; they may end while one looks."""
        return iter(tuple(self._flying.values()))

    def begin(self, flight: Flight) -> None:
        """Note that a call was sent."""
        session = flight.call.context.session_id
        self._flying[flight.call.id] = flight
        self._sessions[session] = self._sessions.get(session, 0) + 1

    def end(self, flight: Flight) -> None:
        """Note that a call has ended; again is harmless."""
        if self._flying.pop(flight.call.id, None) is not flight:
            return
        self.forsake(flight)
        session = flight.call.context.session_id
        count = self._sessions[session] - 1
        if count:
            self._sessions[session] = count
        else:
            del self._sessions[session]
            self._leave(session)

    def appoint(self, flight: Flight, seconds: float, then: Callable[[Flight], None]) -> None:
        """Have something done to a call unless it ends within so many seconds.

        Replaces its earlier appointment.
        """
        flight.due = self._now() + seconds
        flight.then = then
        if flight.due < self._armed:
            self._arm(flight.due)

    def ring(self) -> None:
        """Keep the appointments that are due, and set the timer for the next one."""
        now = self._now()
        self._timer, self._armed = None, inf
        for flight in self:
            if flight.due <= now:
                flight.due = inf
                flight.then(flight)
        earliest = min((flight.due for flight in self), default=inf)
        if earliest < self._armed:
            self._arm(earliest)

    def serves(self, session_id: str) -> bool:
        """Whether the process has a call of that session, or had one within the grace."""
        if session_id in self._sessions:
            return True
        left = self._left.get(session_id)
        return left is not None and self._now() - left <= GRACE_S

    def callers(self, session_id: str, call_id: str) -> list[Flight]:
        """Those calls of a session that may be asking: the one named, else every one (P23)."""
        named = self._flying.get(call_id)
        candidates = [named] if named is not None else list(self)
        return [
            flight
            for flight in candidates
            if flight.call.context.session_id == session_id and flight.may_ask
        ]

    async def wait_for(self, work: Coroutine[Any, Any, Result], callers: list[Flight]) -> Result:
        """Run what these calls wait for; their clocks stand still meanwhile (K14).

        Their slots are given up for good, since what runs for them may need one. The work is
        cancelled with this coroutine, or when none of the calls is there any more; then it
        raises Forsaken.
        """
        task = asyncio.get_running_loop().create_task(work)
        awaited = Awaited(task, callers)
        for flight in callers:
            self._stop_clock(flight)
            flight.awaited.append(awaited)
            if flight.slot is not None:
                flight.slot.give_back()
        try:
            return await task
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            raise Forsaken from None
        finally:
            for flight in callers:
                flight.awaited.remove(awaited)
                self._start_clock(flight)

    def forsake(self, flight: Flight) -> None:
        """The call waits for nothing any more; what only it waited for is cancelled."""
        for awaited in flight.awaited:
            awaited.forsake(flight)

    def report(self, call_id: str, report: Failure) -> bool:
        """File what a withdrawn call had done; False when nobody waits for that (P26)."""
        flight = self._flying.get(call_id)
        if flight is None or flight.report is None:
            return False
        self.end(flight)
        flight.report.set_result(report)
        return True

    def abandon(self) -> None:
        """The process is gone: no report will come any more."""
        for flight in self:
            if flight.report is not None:
                self.end(flight)
                flight.report.set_result(None)

    def _stop_clock(self, flight: Flight) -> None:
        if not flight.awaited and flight.due < inf:
            flight.left_s, flight.due = flight.due - self._now(), inf

    def _start_clock(self, flight: Flight) -> None:
        """Go on counting, unless the call has come nearer to its end meanwhile."""
        left_s = flight.left_s
        if flight.awaited or left_s is None:
            return
        flight.left_s = None
        if flight.due == inf and flight.may_ask:
            self.appoint(flight, left_s, flight.then)

    def _arm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed = due
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(max(0.0, due - self._now()), self.ring)

    def _leave(self, session: str) -> None:
        # Kept in order of leaving, so that forgetting the old costs nothing in the long run.
        now = self._now()
        self._left.pop(session, None)
        self._left[session] = now
        for earlier, left in tuple(self._left.items())[:2]:
            if now - left > GRACE_S:
                del self._left[earlier]
