"""What a call may send before its end, and when (P10, P11).

Every event passes here, and what would break the contract is refused as a misuse that names the
method and the operation. How events travel is the outlet's business.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pluggableharness.sdk.events import ExitStatus, LeadUp, PartialResult, Progress, Stream
from pluggableharness.sdk.failures import Misuse
from pluggableharness.sdk.outlet import Outlet

_INT32: Final = range(-(2**31), 2**31)


class EventStream:
    """The events of one call. Costs next to nothing for a call that has none but its last."""

    __slots__ = ("_closed", "_exited", "_operation", "_outlet", "_send")

    def __init__(
        self, operation: str, streaming: bool, send: Callable[[LeadUp], Awaitable[None]]
    ) -> None:
        self._operation = operation
        self._send = send
        self._closed = "" if streaming else "it is declared without streaming=True"
        self._outlet: Outlet | None = None
        self._exited = False

    async def output(self, data: bytes | bytearray | memoryview, stream: Stream) -> None:
        """Send bytes of a child's output."""
        outlet = self._open("output")
        if stream not in ("stdout", "stderr"):
            raise self._misuse("output", f"the stream is {stream!r}, expected stdout or stderr")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise self._misuse("output", f"expected bytes, got {type(data).__name__}")
        if len(data):
            await outlet.output(bytes(data), stream)

    async def progress(self, message: str, fraction: float | None) -> None:
        """Say how far the call is."""
        outlet = self._open("progress")
        if not isinstance(message, str):
            raise self._misuse("progress", f"expected a message, got {type(message).__name__}")
        if fraction is not None and not _is_fraction(fraction):
            raise self._misuse("progress", f"the fraction is {fraction!r}, expected 0 to 1")
        await self._event("progress", outlet, Progress(message, fraction))

    async def partial(self, payload: Mapping[str, Any]) -> None:
        """Send a part of the result."""
        outlet = self._open("partial")
        if not isinstance(payload, Mapping):
            raise self._misuse("partial", f"expected an object, got {type(payload).__name__}")
        await self._event("partial", outlet, PartialResult(payload))

    async def exit_status(self, code: int, signal: str | None) -> None:
        """Say how the child ended; once a call at most."""
        outlet = self._open("exit_status")
        if self._exited:
            raise self._misuse("exit_status", "a call has one exit status, and it was sent")
        if isinstance(code, bool) or not isinstance(code, int) or code not in _INT32:
            raise self._misuse("exit_status", f"the code is {code!r}, expected a 32-bit integer")
        self._exited = True
        await self._event("exit_status", outlet, ExitStatus(code, signal))

    async def finish(self) -> None:
        """Send what is held back and admit nothing more: the function has ended."""
        self._closed = "the function has returned"
        if self._outlet is not None:
            await self._outlet.drain()

    def abandon(self, why: str) -> None:
        """Drop what is held back and admit nothing more: nobody listens."""
        self._closed = why
        if self._outlet is not None:
            self._outlet.abandon()

    def _open(self, method: str) -> Outlet:
        if self._closed:
            raise self._misuse(method, self._closed)
        if self._outlet is None:
            self._outlet = Outlet(self._send)
        return self._outlet

    async def _event(self, method: str, outlet: Outlet, event: LeadUp) -> None:
        try:
            await outlet.event(event)
        except ValueError as error:
            # What the wire cannot carry is found where the message is made.
            raise self._misuse(method, str(error)) from None

    def _misuse(self, method: str, problem: str) -> Misuse:
        return Misuse(f"ctx.{method}() of {self._operation}: {problem}")


def _is_fraction(fraction: Any) -> bool:
    # NaN, which compares false with everything, does not pass.
    return isinstance(fraction, (int, float)) and 0 <= fraction <= 1
