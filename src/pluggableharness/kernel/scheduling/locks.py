"""The lock table of one provider process: who runs now, and who waits for whom (P18-P23).

The whole rule: a request runs at once unless it conflicts with an earlier one that has not
ended. An exclusive request conflicts with every other, two with the same key with each
other. How that is kept in constant time stands in docs/design/locks.md.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from types import TracebackType

_NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LockRequest:
    """What one call asks of its provider process.

    `owner` is the call's id; an owner asks once at a time. `exclusive` means that nothing
    else runs (P19), whatever `key` says; requests of equal `key` run one after another (P21);
    None runs beside every shared one (P20). `ancestors` are the ids of the calls that wait
    for this one to end: the spawning calls of its session and of the sessions above (P23).
    """

    owner: str
    exclusive: bool
    key: Hashable | None = None
    ancestors: frozenset[str] = _NOBODY

    def conflicts(self, other: "LockRequest") -> bool:
        """Whether the two may not run at the same time."""
        if self.exclusive or other.exclusive:
            return True
        return self.key is not None and self.key == other.key


class WouldDeadlock(Exception):
    """The request waits for `holder`, an ancestor that itself waits for the request (P23)."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"call {holder} holds this provider's lock and waits for this call to end, so this "
            "call can never get it; use another tool here, or let the caller do this itself"
        )
        self.holder = holder


class LockTable:
    """First come, first served, and everything at once that may be (P22).

    Belongs to one event loop. Requests that run form the current group, together with those
    that wait in it for a key; the queue holds what came after the first exclusive request
    that must wait, in order of arrival, keyed by the hold so that any of them can leave.
    """

    def __init__(self) -> None:
        self._owners: dict[str, Hold] = {}
        self._running = 0
        self._alone = False
        self._keys: dict[Hashable, OrderedDict[Hold, None] | None] = {}
        self._queue: OrderedDict[Hold, None] = OrderedDict()

    def hold(self, request: LockRequest) -> "Hold":
        """A context manager that waits for the lock, and holds it inside.

        Entering raises WouldDeadlock (P23), and ValueError when the owner already asks. A
        cancelled wait leaves no trace, and however the body ends the lock is released.
        """
        return Hold(self, request)

    @property
    def idle(self) -> bool:
        """Whether nobody holds or awaits anything."""
        return not self._owners

    def _enter(self, hold: "Hold") -> bool:
        """Let the request run, or put it in its line and answer False."""
        request = hold.request
        if request.owner in self._owners:
            raise ValueError(f"call {request.owner} already holds or awaits this lock")
        passes = bool(request.ancestors) and self._passes_queue(request)
        self._owners[request.owner] = hold
        blocked = self._alone or (self._queue and not passes)
        if blocked or (request.exclusive and self._running):
            self._queue[hold] = None
            return False
        return self._join_group(hold)

    def _passes_queue(self, request: LockRequest) -> bool:
        """Whether an ancestor runs here, beside this request: then the whole queue waits for it.

        The head of the queue is exclusive or waits for one that runs, so everything in it
        waits for every request of the current group, the ancestor's among them (P23).
        """
        passes = False
        for ancestor in request.ancestors:
            holder = self._owners.get(ancestor)
            if holder is not None and holder.granted:
                if request.conflicts(holder.request):
                    raise WouldDeadlock(ancestor)
                passes = True
        return passes

    def _join_group(self, hold: "Hold") -> bool:
        """Run beside what runs, or wait for the key; nothing exclusive runs."""
        key = hold.request.key
        if hold.request.exclusive:
            self._alone = True
        elif key is not None:
            if key in self._keys:
                self._await_key(key, hold)
                return False
            self._keys[key] = None
        self._grant(hold)
        return True

    def _await_key(self, key: Hashable, hold: "Hold") -> None:
        waiters = self._keys[key]
        if waiters is None:
            waiters = self._keys[key] = OrderedDict()
        waiters[hold] = None

    def _grant(self, hold: "Hold") -> None:
        self._running += 1
        hold.grant()

    def _leave(self, hold: "Hold") -> None:
        """End a hold, or withdraw a request that still waits."""
        del self._owners[hold.request.owner]
        if hold.granted:
            self._release(hold.request)
        elif hold in self._queue:
            del self._queue[hold]
        else:
            self._leave_key_line(hold)
        self._advance()

    def _release(self, request: LockRequest) -> None:
        self._running -= 1
        if request.exclusive:
            self._alone = False
        elif request.key is not None:
            waiters = self._keys[request.key]
            if waiters:
                self._grant(waiters.popitem(last=False)[0])
            else:
                del self._keys[request.key]

    def _leave_key_line(self, hold: "Hold") -> None:
        assert hold.request.key is not None
        waiters = self._keys[hold.request.key]
        assert waiters is not None
        del waiters[hold]

    def _advance(self) -> None:
        """Move the head of the queue into the group for as long as it may run or wait there."""
        while self._queue and not self._alone:
            hold = next(iter(self._queue))
            if hold.request.exclusive and self._running:
                return
            del self._queue[hold]
            self._join_group(hold)


class Hold:
    """One request's stay in the table; `async with` it, once."""

    __slots__ = ("_table", "_turn", "granted", "request")

    def __init__(self, table: LockTable, request: LockRequest) -> None:
        self.request = request
        self.granted = False
        self._table = table
        self._turn: asyncio.Future[None] | None = None

    def grant(self) -> None:
        """Called by the table, once: the request runs from now on."""
        self.granted = True
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)

    async def __aenter__(self) -> None:
        if self._table._enter(self):
            return
        self._turn = asyncio.get_running_loop().create_future()
        try:
            await self._turn
        except BaseException:
            self._table._leave(self)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._table._leave(self)
