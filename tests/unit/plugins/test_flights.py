"""Who has a call in flight, and for how long a trailing callback is heard (P26, K28)."""

import asyncio
from typing import Any

import pytest

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure
from pluggableharness.kernel.plugins.flights import GRACE_S, CutShort, Flight, Flights

OBJECT = Schema(SchemaType.OBJECT)
OPERATION = Operation("p", "o", Kind.RESOURCE, Risk.LOW, "d", OBJECT, OBJECT)
REPORT = Failure(ErrorCategory.CANCELLED, "stopped", details={"rows": 1})


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeRpc:
    def __init__(self) -> None:
        self.cancelled = 0

    async def read(self) -> Any:
        raise AssertionError("nobody reads here")

    def cancel(self) -> bool:
        self.cancelled += 1
        return True

    def done(self) -> bool:
        return False


def flight(call_id: str, session: str = "s") -> Flight:
    return Flight(Call(call_id, OPERATION, {}, CallContext(session, "t", "/")), FakeRpc())


@pytest.fixture
async def clock() -> Clock:
    return Clock()


@pytest.fixture
async def flights(clock: Clock) -> Flights:
    return Flights(clock)


@pytest.mark.req("K28")
async def test_a_session_is_served_while_a_call_of_it_runs_and_for_the_grace_after(
    flights: Flights, clock: Clock
) -> None:
    one, two = flight("1"), flight("2")
    assert not flights.serves("s")
    flights.begin(one)
    flights.begin(two)
    flights.end(one)
    clock.now += 100
    assert flights.serves("s")
    flights.end(two)
    clock.now += GRACE_S
    assert flights.serves("s")
    clock.now += 0.001
    assert not flights.serves("s")


@pytest.mark.req("K28")
async def test_sessions_that_left_long_ago_are_forgotten(flights: Flights, clock: Clock) -> None:
    for number in range(1_000):
        one = flight(str(number), f"session {number}")
        flights.begin(one)
        flights.end(one)
        clock.now += 1
    assert len(flights._left) < 10


async def test_ending_twice_counts_once(flights: Flights) -> None:
    one, two = flight("1"), flight("2")
    flights.begin(one)
    flights.begin(two)
    flights.end(one)
    flights.end(one)
    assert flights.serves("s")
    assert list(flights) == [two]


@pytest.mark.req("P26")
async def test_a_report_is_taken_only_for_a_call_that_was_withdrawn(flights: Flights) -> None:
    one = flight("1")
    flights.begin(one)
    assert not flights.report("1", REPORT)
    assert not flights.report("nobody's", REPORT)
    future = one.expect_report()
    assert flights.report("1", REPORT)
    assert future.result() == REPORT
    assert not flights.report("1", REPORT)
    assert list(flights) == []


@pytest.mark.req("P27")
async def test_when_the_process_is_gone_nobody_waits_for_a_report(flights: Flights) -> None:
    withdrawn, running = flight("1"), flight("2")
    flights.begin(withdrawn)
    flights.begin(running)
    future = withdrawn.expect_report()
    flights.abandon()
    assert future.result() is None
    assert list(flights) == [running]


async def test_a_call_is_cut_short_for_the_first_reason_alone() -> None:
    one = flight("1")
    one.cut(CutShort.DEADLINE)
    one.cut(CutShort.DEATH)
    assert one.cut_short is CutShort.DEADLINE
    assert isinstance(one.rpc, FakeRpc) and one.rpc.cancelled == 1


@pytest.mark.req("K14")
async def test_appointments_are_kept_in_time_whichever_was_made_first(
    flights: Flights, clock: Clock
) -> None:
    kept: list[str] = []
    late, soon, gone = flight("late"), flight("soon"), flight("gone")
    for one, seconds in ((late, 100.0), (soon, 5.0), (gone, 5.0)):
        flights.begin(one)
        flights.appoint(one, seconds, lambda flight: kept.append(flight.call.id))
    flights.end(gone)
    for seconds, expected in ((4, []), (1, ["soon"]), (90, ["soon"]), (5, ["soon", "late"])):
        clock.now += seconds
        flights.ring()
        assert kept == expected


@pytest.mark.req("K14")
async def test_a_later_appointment_replaces_the_earlier_one(flights: Flights, clock: Clock) -> None:
    kept: list[str] = []
    one = flight("1")
    flights.begin(one)
    flights.appoint(one, 5.0, lambda flight: kept.append("first"))
    flights.appoint(one, 50.0, lambda flight: kept.append("second"))
    for seconds, expected in ((5, []), (45, ["second"]), (100, ["second"])):
        clock.now += seconds
        flights.ring()
        assert kept == expected


async def test_the_timer_rings_by_itself_for_the_earliest() -> None:
    loop = asyncio.get_running_loop()
    flights = Flights(loop.time)
    rung = loop.create_future()
    late, soon = flight("late"), flight("soon")
    for one, seconds in ((late, 1000.0), (soon, 0.01)):
        flights.begin(one)
        flights.appoint(one, seconds, lambda flight: rung.set_result(flight.call.id))
    assert await asyncio.wait_for(rung, 30) == "soon"
