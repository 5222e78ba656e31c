"""Who runs beside whom, who waits, and what an end or a cancel sets free."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from pluggableharness.kernel.scheduling import LockRequest, LockTable, WouldDeadlock

PATIENCE_S = 5


class Calls:
    """Calls that hold the lock until told to end, and the order in which they began."""

    def __init__(self, table: LockTable) -> None:
        self.table = table
        self.began: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._news = asyncio.Event()

    async def start(
        self, owner: str, *, exclusive: bool = False, key: str | None = None, above: str = ""
    ) -> None:
        """Start a call and let it come as far as it can."""
        request = LockRequest(owner, exclusive, key, frozenset(above.split()))
        self._ends[owner] = asyncio.Event()
        self.tasks[owner] = asyncio.create_task(self._run(request))
        await asyncio.sleep(0)

    async def _run(self, request: LockRequest) -> None:
        async with self.table.hold(request):
            self.began.append(request.owner)
            self._news.set()
            await self._ends[request.owner].wait()

    async def end(self, owner: str) -> None:
        self._ends[owner].set()
        await asyncio.wait_for(self.tasks[owner], PATIENCE_S)

    async def cancel(self, owner: str) -> None:
        self.tasks[owner].cancel()
        await asyncio.wait([self.tasks[owner]], timeout=PATIENCE_S)
        assert self.tasks[owner].cancelled()

    async def until_began(self, *owners: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not set(owners) <= set(self.began):
                self._news.clear()
                await self._news.wait()

    async def finish(self) -> None:
        for end in self._ends.values():
            end.set()
        await asyncio.wait_for(
            asyncio.gather(*self.tasks.values(), return_exceptions=True), PATIENCE_S
        )


@pytest.fixture
async def calls() -> AsyncIterator[Calls]:
    """Every test ends with a table that has forgotten everything."""
    calls = Calls(LockTable())
    yield calls
    await calls.finish()
    assert calls.table.idle
    assert not calls.table._keys
    assert not calls.table._queue
    assert calls.table._running == 0


@pytest.mark.req("P20")
async def test_safe_calls_run_beside_each_other(calls: Calls) -> None:
    for owner in "abc":
        await calls.start(owner)
    assert calls.began == ["a", "b", "c"]


@pytest.mark.req("P19")
async def test_nothing_runs_beside_an_exclusive_call(calls: Calls) -> None:
    await calls.start("x", exclusive=True)
    await calls.start("a")
    await calls.start("k", key="1")
    await calls.start("y", exclusive=True)
    assert calls.began == ["x"]
    await calls.end("x")
    await calls.until_began("a", "k")
    assert calls.began == ["x", "a", "k"]
    await calls.end("a")
    assert "y" not in calls.began
    await calls.end("k")
    await calls.until_began("y")


@pytest.mark.req("P21")
async def test_equal_keys_run_in_order_of_arrival_and_others_beside_them(calls: Calls) -> None:
    """Case concurrency-04: two edits of one path in sequence, one of another at once."""
    await calls.start("a1", key="a")
    await calls.start("a2", key="a")
    await calls.start("a3", key="a")
    await calls.start("b1", key="b")
    assert calls.began == ["a1", "b1"]
    await calls.end("a1")
    await calls.until_began("a2")
    assert calls.began == ["a1", "b1", "a2"]
    await calls.end("a2")
    await calls.until_began("a3")


@pytest.mark.req("P22")
async def test_a_stream_of_safe_calls_does_not_starve_an_exclusive_one(calls: Calls) -> None:
    await calls.start("first")
    await calls.start("x", exclusive=True)
    await calls.start("late")
    assert calls.began == ["first"]
    await calls.end("first")
    await calls.until_began("x")
    assert "late" not in calls.began
    await calls.end("x")
    await calls.until_began("late")


@pytest.mark.req("P22")
async def test_exclusive_calls_do_not_starve_a_safe_one(calls: Calls) -> None:
    await calls.start("x1", exclusive=True)
    await calls.start("safe")
    await calls.start("x2", exclusive=True)
    await calls.end("x1")
    await calls.until_began("safe")
    assert "x2" not in calls.began


@pytest.mark.req("P21")
async def test_a_cancelled_holder_hands_its_key_on(calls: Calls) -> None:
    """Case concurrency-04: cancel the first, and the second still runs."""
    await calls.start("a1", key="a")
    await calls.start("a2", key="a")
    assert calls.began == ["a1"]
    await calls.cancel("a1")
    await calls.until_began("a2")


@pytest.mark.req("P19")
async def test_a_failed_holder_releases(calls: Calls) -> None:
    """Case concurrency-04."""
    with pytest.raises(ZeroDivisionError):
        async with calls.table.hold(LockRequest("bad", exclusive=True)):
            _ = 1 / 0
    await calls.start("x", exclusive=True)
    assert calls.began == ["x"]


@pytest.mark.req("P22")
async def test_a_cancelled_waiter_no_longer_holds_up_those_behind_it(calls: Calls) -> None:
    await calls.start("a")
    await calls.start("x", exclusive=True)
    await calls.start("b")
    await calls.start("y", exclusive=True)
    await calls.start("c")
    await calls.cancel("y")
    assert calls.began == ["a"]
    await calls.cancel("x")
    await calls.until_began("b", "c")
    assert calls.began == ["a", "b", "c"]


@pytest.mark.req("P21")
async def test_a_cancelled_waiter_for_a_key_leaves_the_line(calls: Calls) -> None:
    await calls.start("a1", key="a")
    await calls.start("a2", key="a")
    await calls.start("a3", key="a")
    await calls.cancel("a2")
    assert calls.began == ["a1"]
    await calls.end("a1")
    await calls.until_began("a3")
    assert calls.began == ["a1", "a3"]


@pytest.mark.req("P22")
async def test_a_waiter_cancelled_in_the_moment_of_its_turn_passes_it_on(calls: Calls) -> None:
    """The grant and the cancel meet in one step of the loop, in either order."""
    for first, second in [("end", "cancel"), ("cancel", "end")]:
        names = [f"{first}{number}" for number in range(3)]
        for name in names:
            await calls.start(name, exclusive=True)
        steps: dict[str, Callable[[], object]] = {
            "end": calls._ends[names[0]].set,
            "cancel": calls.tasks[names[1]].cancel,
        }
        steps[first]()
        steps[second]()
        await calls.until_began(names[2])
        assert names[1] not in calls.began
        await calls.end(names[2])


@pytest.mark.req("P23")
async def test_a_call_behind_its_own_ancestor_fails_at_once_and_names_it(calls: Calls) -> None:
    await calls.start("parent", exclusive=True)
    await calls.start("child", above="root parent")
    task = calls.tasks["child"]
    await asyncio.wait([task], timeout=PATIENCE_S)
    error = task.exception()
    assert isinstance(error, WouldDeadlock)
    assert error.holder == "parent"
    assert "parent" in str(error)


@pytest.mark.req("P23")
@pytest.mark.parametrize(("exclusive", "key"), [(True, None), (False, "k")])
async def test_a_shared_ancestor_is_waited_for_by_neither_its_key_nor_an_exclusive_child(
    calls: Calls, exclusive: bool, key: str | None
) -> None:
    await calls.start("parent", key="k")
    await calls.start("child", exclusive=exclusive, key=key, above="parent")
    await asyncio.wait([calls.tasks["child"]], timeout=PATIENCE_S)
    assert isinstance(calls.tasks["child"].exception(), WouldDeadlock)


@pytest.mark.req("P23")
async def test_a_child_passes_a_queued_call_that_waits_for_its_parent(calls: Calls) -> None:
    await calls.start("parent")
    await calls.start("x", exclusive=True)
    await calls.start("stranger")
    await calls.start("child", above="parent")
    assert calls.began == ["parent", "child"]
    await calls.end("parent")
    assert "x" not in calls.began
    await calls.end("child")
    await calls.until_began("x")


@pytest.mark.req("P23")
async def test_a_passing_child_still_waits_its_turn_for_a_key(calls: Calls) -> None:
    await calls.start("parent")
    await calls.start("k1", key="k")
    await calls.start("x", exclusive=True)
    await calls.start("child", key="k", above="parent")
    assert calls.began == ["parent", "k1"]
    await calls.end("k1")
    await calls.until_began("child")
    assert "x" not in calls.began


@pytest.mark.req("P23")
async def test_ancestors_that_hold_nothing_here_change_nothing(calls: Calls) -> None:
    await calls.start("a")
    await calls.start("x", exclusive=True)
    await calls.start("b", above="elsewhere")
    assert calls.began == ["a"]


async def test_an_owner_cannot_ask_twice_at_once(calls: Calls) -> None:
    await calls.start("a")
    with pytest.raises(ValueError, match="a already holds"):
        async with calls.table.hold(LockRequest("a", exclusive=False)):
            raise AssertionError
    await calls.end("a")
    await calls.start("a")
    assert calls.began == ["a", "a"]


@pytest.mark.req("P20", "P22")
async def test_two_thousand_waiting_calls_all_run_when_the_exclusive_one_ends(
    calls: Calls,
) -> None:
    await calls.start("x", exclusive=True)
    for number in range(2000):
        await calls.start(f"s{number}")
    await calls.end("x")
    await calls.until_began(*[f"s{number}" for number in range(2000)])
    assert calls.began == ["x", *[f"s{number}" for number in range(2000)]]
