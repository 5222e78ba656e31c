"""One call, from the lock to its outcome."""

import asyncio
from collections.abc import Coroutine, Sequence

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.cancelled import CallCancelled
from pluggableharness.kernel.domain.errors import ProviderUnavailable
from pluggableharness.kernel.domain.news import CallEnded, CallEvent, CallStarted
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, LeadUp, Outcome
from pluggableharness.kernel.planning.retry import retry_delay
from pluggableharness.kernel.turn.ports import Running, TurnPorts
from pluggableharness.kernel.turn.results import Results


async def run_call(ports: TurnPorts, results: Results, running: Running, call: Call) -> Outcome:
    """Run a call whose lock is held, again where the contract allows it (P15, P17).

    The intent of a resource is on disk before it is sent, and the outcome of every attempt
    before anyone hears of it (K27).
    """
    await ports.frontend.hear(CallStarted(call))
    attempts = 0
    while True:
        outcome = await _attempt(ports, results, running, call)
        attempts += 1
        delay = retry_delay(call.operation, outcome, attempts, ports.retries)
        if delay is None:
            break
        await asyncio.sleep(delay)
    await ports.frontend.hear(CallEnded(call, outcome))
    return outcome


async def end_unsent(ports: TurnPorts, results: Results, call: Call, outcome: Outcome) -> Outcome:
    """File and tell the outcome of a call that was not sent: denied, or nobody could take it."""
    _file(ports, results, call, outcome)
    await ports.record.durable()
    await ports.frontend.hear(CallEnded(call, outcome))
    return outcome


def unavailable(error: ProviderUnavailable) -> Failure:
    """What the model reads when a provider could not be started."""
    return Failure(ErrorCategory.PROCESS_CRASHED, str(error))


async def _attempt(ports: TurnPorts, results: Results, running: Running, call: Call) -> Outcome:
    ports.record.call(call)
    if call.operation.kind is Kind.RESOURCE:
        await ports.record.durable()

    async def heard(event: LeadUp) -> None:
        await ports.frontend.hear(CallEvent(call, event))

    try:
        outcome = await running.invoke(call, heard)
    except CallCancelled as cancelled:
        _file(ports, results, call, cancelled.failure)
        raise
    _file(ports, results, call, outcome)
    await ports.record.durable()
    return outcome


def _file(ports: TurnPorts, results: Results, call: Call, outcome: Outcome) -> None:
    """Record and result in one step, so that no cancellation can come between the two."""
    ports.record.outcome(call, outcome)
    results.settle(call, outcome)


async def together(work: Sequence[Coroutine[None, None, None]]) -> None:
    """Run all of it at once and wait for all; the first exception stops the others.

    A single piece runs in the caller's own task: that is the common turn, and a task would
    cost it more than validation does.
    """
    if len(work) == 1:
        await work[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for piece in work:
                group.create_task(piece)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from several
