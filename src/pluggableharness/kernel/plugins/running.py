"""One call in the provider process that it holds: from the lock to its outcome (P18-P22)."""

from collections.abc import Awaitable, Callable
from types import TracebackType

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, LeadUp, Outcome
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.process import ProviderProcess
from pluggableharness.kernel.plugins.seat import Seat
from pluggableharness.kernel.scheduling import Hold, WouldDeadlock


class Running:
    """A call's hold on its provider process. `async with` it, once."""

    __slots__ = ("_hold", "_process", "_refusal", "_seat")

    def __init__(self, seat: Seat, hold: Hold) -> None:
        self._seat = seat
        self._hold = hold
        self._process: ProviderProcess | None = None
        self._refusal: Failure | None = None

    async def __aenter__(self) -> "Running":
        try:
            await self._hold.__aenter__()
        except WouldDeadlock as conflict:
            self._refusal = Failure(ErrorCategory.CONCURRENCY_CONFLICT, str(conflict))
            return self
        try:
            self._process = self._seat.present or await self._seat.process()
        except BaseException:
            await self._hold.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._refusal is None:
            await self._hold.__aexit__(kind, error, trace)

    def declares(self, operation: Operation) -> bool:
        """Whether the process declares the operation exactly so (K10a)."""
        return self._process is None or self._process.declares(operation)

    async def invoke(self, call: Call, heard: Callable[[LeadUp], Awaitable[None]]) -> Outcome:
        """Run the call to its end, whatever that is (P10-P16, P25-P27).

        Never raises for a provider's faults. Cancelling the task cancels the call and raises
        CallCancelled with the provider's report, which may take the 5 s of grace.
        """
        if self._refusal is not None:
            return self._refusal
        try:
            # A call that is tried again may find that its process has died meanwhile.
            process = self._seat.present or await self._seat.process()
        except ProviderLoadError as error:
            return Failure(ErrorCategory.PROCESS_CRASHED, str(error))
        return await process.calls.invoke(call, heard)
