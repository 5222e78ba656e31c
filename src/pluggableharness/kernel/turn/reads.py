"""What is not gated by a plan: data sources, at once, and interactive calls, one by one."""

from collections.abc import Sequence

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import PlanItem
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.schema.validate import violations
from pluggableharness.kernel.turn.asking import judged_item
from pluggableharness.kernel.turn.calls import end_unsent, together
from pluggableharness.kernel.turn.denial import denial
from pluggableharness.kernel.turn.gate import decide_and_run, decide_item
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
    await decide_and_run(ports, results, await _judged(ports, call))


async def _ask_in_order(ports: TurnPorts, results: Results, calls: Sequence[Call]) -> None:
    for proposed in calls:
        item = await decide_item(ports, results, await _judged(ports, proposed))
        call, verdict = item.call, item.verdict
        if verdict.decision is not Decision.ALLOW:
            await end_unsent(ports, results, call, denial(verdict))
            continue
        ports.record.call(call)
        await end_unsent(ports, results, call, await _answer(ports, call))


async def _judged(ports: TurnPorts, call: Call) -> PlanItem:
    """The call as policy judges it; that a rule gates it is filed, since no plan holds it (K6)."""
    item = await judged_item(ports, call.id, call)
    if item.verdict.decision is Decision.ASK:
        ports.record.decision(item.call, item.verdict)
    return item


async def _answer(ports: TurnPorts, call: Call) -> Outcome:
    """Put an interactive call to the person; its provider is never invoked (C21)."""
    try:
        payload = await ports.frontend.answer(call) if ports.frontend.attended else None
    except TimeoutError:
        return _unanswered(call, ErrorCategory.TIMEOUT, f"nobody answered in {call.deadline_s:g} s")
    if payload is None:
        return _unanswered(call, ErrorCategory.EXECUTION_FAILED, "no person is here to answer")
    wrong = violations(call.operation.output_schema, payload, closed=False)
    if wrong:
        return Failure(
            ErrorCategory.UNKNOWN,
            f"{call.operation.full_name}: the answer does not fit the operation's output schema.",
            details={"violations": [str(violation) for violation in wrong]},
        )
    return Success(payload)


def _unanswered(call: Call, category: ErrorCategory, why: str) -> Failure:
    return Failure(
        category,
        f"{call.operation.full_name}: {why}. Go on without, and say in the final message what "
        "was assumed.",
    )
