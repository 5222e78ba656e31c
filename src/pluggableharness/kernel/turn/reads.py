"""What is not gated by a plan: data sources, at once, and interactive calls, one by one."""

from collections.abc import Sequence

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import ProviderUnavailable
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.schema.validate import violations
from pluggableharness.kernel.turn.asking import described, settled
from pluggableharness.kernel.turn.calls import end_unsent, run_call, together, unavailable
from pluggableharness.kernel.turn.denial import denial
from pluggableharness.kernel.turn.ports import TurnPorts
from pluggableharness.kernel.turn.results import Results


async def run_reads(ports: TurnPorts, results: Results, calls: Sequence[Call]) -> None:
    """Run data sources as their locks allow, and interactive calls in the model's order (K1)."""
    work = [
        _run_one(ports, results, call) for call in calls if call.operation.kind is Kind.DATA_SOURCE
    ]
    asked = [call for call in calls if call.operation.kind is Kind.INTERACTIVE]
    if asked:
        work.append(_ask_in_order(ports, results, asked))
    if work:
        await together(work)


async def _run_one(ports: TurnPorts, results: Results, call: Call) -> None:
    call, verdict = await _decide(ports, results, call)
    if verdict.decision is not Decision.ALLOW:
        await end_unsent(ports, results, call, denial(verdict))
        return
    try:
        async with ports.providers.locked(call) as running:
            await run_call(ports, results, running, call)
    except ProviderUnavailable as error:
        await end_unsent(ports, results, call, unavailable(error))


async def _ask_in_order(ports: TurnPorts, results: Results, calls: Sequence[Call]) -> None:
    for proposed in calls:
        call, verdict = await _decide(ports, results, proposed)
        if verdict.decision is not Decision.ALLOW:
            await end_unsent(ports, results, call, denial(verdict))
            continue
        ports.record.call(call)
        await end_unsent(ports, results, call, await _answer(ports, call))


async def _decide(ports: TurnPorts, results: Results, call: Call) -> tuple[Call, Verdict]:
    """The call and its verdict, filed: the row also pairs the call with the model's block (K4).

    Where a rule gates reads the person is asked (K6), and may have edited the call.
    """
    verdict = ports.decide(call)
    if verdict.decision is Decision.ASK:
        ports.record.decision(call, verdict)
        item = await settled(ports, await described(ports, call.id, call, verdict))
        call, verdict = item.call, item.verdict
        results.decided(call, verdict)
    ports.record.decision(call, verdict)
    return call, verdict


async def _answer(ports: TurnPorts, call: Call) -> Outcome:
    """Put an interactive call to the person; its provider is never invoked (C21)."""
    payload = await ports.frontend.answer(call) if ports.frontend.attended else None
    if payload is None:
        return Failure(
            ErrorCategory.EXECUTION_FAILED,
            f"{call.operation.full_name}: no person is here to answer. Go on without, and say "
            "in the final message what was assumed.",
        )
    wrong = violations(call.operation.output_schema, payload, closed=False)
    if wrong:
        return Failure(
            ErrorCategory.UNKNOWN,
            f"{call.operation.full_name}: the answer does not fit the operation's output schema.",
            details={"violations": [str(violation) for violation in wrong]},
        )
    return Success(payload)
