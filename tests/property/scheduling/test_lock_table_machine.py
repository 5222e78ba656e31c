"""The lock table against the definition, in random histories of arrivals, ends and cancels.

The model is a plain list in order of arrival: a request runs exactly when nothing before it
that has not ended conflicts with it. The table must agree after every step, which is at once
"no forbidden overlap", "no needless wait" and "first come, first served".
"""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from pluggableharness.kernel.scheduling import LockRequest, LockTable, WouldDeadlock


@dataclass(eq=False)
class Stay:
    """A request, the task that makes it, and what ends it."""

    request: LockRequest
    end: asyncio.Event
    task: asyncio.Task[None]


class Definition:
    """P19 to P23 as they are written, in quadratic time."""

    def __init__(self) -> None:
        self.line: list[Stay] = []

    def blockers(self, stay: Stay) -> list[Stay]:
        before = self.line[: self.line.index(stay)]
        return [other for other in before if stay.request.conflicts(other.request)]

    def runs(self, stay: Stay) -> bool:
        return not self.blockers(stay)

    def running(self) -> set[str]:
        return {stay.request.owner for stay in self.line if self.runs(stay)}

    def waits_for(self, stay: Stay, owners: frozenset[str]) -> bool:
        return any(
            other.request.owner in owners or self.waits_for(other, owners)
            for other in self.blockers(stay)
        )

    def arrive(self, stay: Stay) -> bool:
        """File the request; False when waiting would never end (P23)."""
        above = stay.request.ancestors & self.running()
        for other in self.line:
            if other.request.owner in above and stay.request.conflicts(other.request):
                return False
        passed = [
            other
            for other in self.line
            if above and stay.request.conflicts(other.request) and self.waits_for(other, above)
        ]
        self.line.insert(self.line.index(passed[0]) if passed else len(self.line), stay)
        return True


class LockTableMachine(RuleBasedStateMachine):
    """Every rule may leave the loop unturned, so that several things happen in one step."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.table = LockTable()
        self.model = Definition()
        self.inside: list[str] = []
        self.refused: set[tuple[str, bool]] = set()
        self.expected_refusals: set[tuple[str, bool]] = set()
        self.settled = True
        self.number = 0

    @rule(
        exclusive=st.sampled_from([False] * 6 + [True]),
        key=st.sampled_from([None, "k", "k", "l"]),
        relatives=st.lists(st.integers(0, 5), max_size=2),
        now=st.booleans(),
    )
    def arrive(self, exclusive: bool, key: str | None, relatives: list[int], now: bool) -> None:
        if relatives:
            self.turn(True)  # who runs right now matters only to a call with ancestors
        arrived = [
            s.request.owner for s in self.model.line if s.request.owner in self.table._owners
        ]
        above = frozenset(arrived[i] for i in relatives if i < len(arrived))
        self.number += 1
        request = LockRequest(f"c{self.number:03}", exclusive, key, above)
        end = asyncio.Event()
        stay = Stay(request, end, self.loop.create_task(self.stay(request, end)))
        if not self.model.arrive(stay):
            self.expected_refusals.add((request.owner, True))
        self.turn(now)

    async def stay(self, request: LockRequest, end: asyncio.Event) -> None:
        try:
            async with self.table.hold(request):
                self.inside.append(request.owner)
                try:
                    await end.wait()
                finally:
                    self.inside.remove(request.owner)
        except WouldDeadlock as deadlock:
            self.refused.add((request.owner, deadlock.holder in request.ancestors))

    @precondition(lambda self: self.model.running())
    @rule(data=st.data(), now=st.booleans())
    def end(self, data: st.DataObject, now: bool) -> None:
        runs = [stay for stay in self.model.line if self.model.runs(stay)]
        stay = runs[data.draw(st.integers(0, len(runs) - 1))]
        self.model.line.remove(stay)
        stay.end.set()
        self.turn(now)

    @precondition(lambda self: self.model.line)
    @rule(data=st.data(), now=st.booleans())
    def cancel(self, data: st.DataObject, now: bool) -> None:
        stay = self.model.line.pop(data.draw(st.integers(0, len(self.model.line) - 1)))
        stay.task.cancel()
        self.turn(now)

    @rule()
    def settle(self) -> None:
        self.turn(True)

    def turn(self, now: bool) -> None:
        """Turn the loop until all that can happen has happened."""
        self.settled = now
        for _ in range(8 if now else 0):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    @invariant()
    def agrees_with_the_definition(self) -> None:
        if self.settled:
            assert set(self.inside) == self.model.running()
            assert self.refused == self.expected_refusals

    def teardown(self) -> None:
        self.turn(True)
        while self.model.line:
            self.agrees_with_the_definition()
            self.model.line[0].end.set()
            self.model.line.pop(0)
            self.turn(True)
        assert self.table.idle
        assert not self.table._queue
        assert not self.table._keys
        assert not asyncio.all_tasks(self.loop)
        self.loop.close()


TestLockTable = pytest.mark.req("P19", "P20", "P21", "P22", "P23")(LockTableMachine.TestCase)
TestLockTable.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
