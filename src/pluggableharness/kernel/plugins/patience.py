"""An await that a cancelling reaches a moment late.

gRPC ends an RPC as soon as the task that reads from it is cancelled, and then nobody can tell a
provider that had just ended by itself from one that ignores the cancelling, which is killed for
it (P27). `asyncio.shield` would do, at the price of a task for each call: 20 µs, a third of what
the host adds to a call. This costs 2.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Patient(Generic[Value]):
    """`await` it for what the coroutine returns; cancelling ends that only after `patience_s`.

    When the coroutine ends within that time, its value or exception arrives as if nobody had
    cancelled, and `cancelled` tells that somebody had: the caller owes the CancelledError.
    """

    __slots__ = ("_coroutine", "_patience_s", "cancelled")

    def __init__(self, coroutine: Coroutine[Any, None, Value], patience_s: float) -> None:
        self._coroutine = coroutine
        self._patience_s = patience_s
        self.cancelled = False

    def __await__(self) -> Generator["_Waiter", None, Value]:
        """Drive the coroutine as a task would, but hand the task waiters of our own."""
        try:
            future = self._coroutine.send(None)
            while True:
                # The future has marked itself as yielded to a task; it is our waiter that is.
                future._asyncio_future_blocking = False
                try:
                    yield _Waiter(future, self._patience_s)
                except BaseException as error:
                    if not future.done():
                        future = self._coroutine.throw(error)
                        continue
                    cancelling = isinstance(error, asyncio.CancelledError)
                    self.cancelled |= cancelling and not future.cancelled()
                # Its own result or exception is in the future, where the coroutine finds it.
                future = self._coroutine.send(None)
        except StopIteration as end:
            value: Value = end.value
            return value


class _Waiter:
    """Stands for a future before a task, in asyncio's protocol of what may be awaited.

    A task that is cancelled cancels what it waits for. This one answers that it cannot be, so
    that the task throws when it next runs, and cancels the future in a while.
    """

    __slots__ = ("_asyncio_future_blocking", "_future", "_patience_s")

    def __init__(self, future: "asyncio.Future[Any]", patience_s: float) -> None:
        self._asyncio_future_blocking = True
        self._future = future
        self._patience_s = patience_s

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._future.get_loop()

    def add_done_callback(
        self, callback: Callable[..., object], *, context: Context | None = None
    ) -> None:
        self._future.add_done_callback(callback, context=context)

    def cancel(self, msg: object = None) -> bool:
        self.get_loop().call_later(self._patience_s, self._future.cancel)
        return False
