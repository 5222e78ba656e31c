"""Calls that wait for a child session: their clocks, and who ends what (K14, K17, P23)."""

import asyncio

import pytest
from unit.plugins.test_flights import Clock, FakeRpc, flight

from pluggableharness.kernel.plugins.flights import Awaited, Flight, Flights, Forsaken


async def for_ever() -> None:
    await asyncio.Event().wait()


@pytest.mark.req("P23")
async def test_the_named_call_is_the_caller_and_without_a_name_all_of_the_session_are() -> None:
    flights = Flights(Clock())
    one, two, other = flight("1"), flight("2"), flight("3", session="other")
    for each in (one, two, other):
        flights.begin(each)
    assert flights.callers("s", "2") == [two]
    assert flights.callers("s", "") == [one, two]
    assert flights.callers("s", "3") == [], "a call of another session"
    two.expect_report()
    assert flights.callers("s", "2") == [], "a call that was withdrawn starts nothing"


@pytest.mark.req("K17")
async def test_a_child_ends_with_the_last_call_that_waits_for_it() -> None:
    flights = Flights(Clock())
    one, two = flight("1"), flight("2")
    for each in (one, two):
        flights.begin(each)
    waiting = asyncio.create_task(flights.wait_for(for_ever(), [one, two]))
    await asyncio.sleep(0)
    flights.end(one)
    await asyncio.sleep(0)
    (awaited,) = two.awaited
    assert not awaited.task.cancelling()
    flights.end(two)
    with pytest.raises(Forsaken):
        await waiting
    assert awaited.task.cancelled()


@pytest.mark.req("K17")
async def test_cancelling_the_wait_cancels_the_child() -> None:
    flights, one = Flights(Clock()), flight("1")
    flights.begin(one)
    waiting = asyncio.create_task(flights.wait_for(for_ever(), [one]))
    await asyncio.sleep(0)
    (awaited,) = one.awaited
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert awaited.task.cancelled()
    assert one.awaited == []


@pytest.mark.req("K14")
async def test_time_spent_waiting_does_not_count_and_what_was_left_does_afterwards() -> None:
    clock = Clock()
    flights, one, gate, rung = Flights(clock), flight("1"), asyncio.Event(), list[Flight]()
    flights.begin(one)
    flights.appoint(one, 10.0, rung.append)
    clock.now += 4
    waits = [asyncio.create_task(flights.wait_for(gate.wait(), [one])) for _ in range(2)]
    await asyncio.sleep(0)
    clock.now += 100
    flights.ring()
    assert rung == []
    gate.set()
    await asyncio.gather(*waits)
    assert one.due == clock.now + 6
    clock.now += 6
    flights.ring()
    assert rung == [one]
    flights.end(one)


def test_work_without_callers_left_is_cancelled_once_and_not_before() -> None:
    async def scene() -> None:
        one = Flight(flight("1").call, FakeRpc())
        task = asyncio.create_task(for_ever())
        awaited = Awaited(task, [one])
        awaited.forsake(flight("2"))
        awaited.forsake(one)
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(scene())
