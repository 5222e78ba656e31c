"""The order that keeps a message's meaning (K1, K13a)."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.scheduling.keys import subject


class Split(NamedTuple):
    """A message's calls by when they run, each part in the model's order."""

    before: tuple[Call, ...]
    resources: tuple[Call, ...]
    after: tuple[Call, ...]


def split(calls: Sequence[Call]) -> Split:
    """The reads and questions written before the first resource call, the resource calls, and
    the reads and questions written later, which run after apply (K13a)."""
    before: list[Call] = []
    resources: list[Call] = []
    after: list[Call] = []
    for call in calls:
        if call.operation.kind is Kind.RESOURCE:
            resources.append(call)
        else:
            (after if resources else before).append(call)
    return Split(tuple(before), tuple(resources), tuple(after))


def waits_for(calls: Sequence[Call]) -> tuple[tuple[int, ...], ...]:
    """For each resource call of a message, the indices of those that must have ended first.

    A call that is not safe waits for all before it, and all after it wait for it, across
    providers. Safe calls of one provider that work on the same thing keep their order,
    whatever their operations: nothing overtakes a writer, not even while a person is asked
    about it. Minimal: what an index waits for itself is not repeated.
    """
    waits: list[tuple[int, ...]] = []
    group = _Group(barrier=None)
    for index, call in enumerate(calls):
        if call.operation.safe:
            waits.append(group.join(index, subject(call)))
        else:
            waits.append(group.close())
            group = _Group(barrier=index)
    return tuple(waits)


class _Group:
    """The safe calls between two barriers."""

    def __init__(self, barrier: int | None) -> None:
        self._start = () if barrier is None else (barrier,)
        self._last: dict[Hashable, int] = {}
        self._unawaited: dict[int, None] = {}

    def join(self, index: int, works_on: Hashable | None) -> tuple[int, ...]:
        """File a call, and say what it waits for."""
        self._unawaited[index] = None
        if works_on is None:
            return self._start
        earlier = self._last.get(works_on)
        self._last[works_on] = index
        if earlier is None:
            return self._start
        del self._unawaited[earlier]
        return (earlier,)

    def close(self) -> tuple[int, ...]:
        """What the next barrier waits for."""
        return tuple(self._unawaited) or self._start
