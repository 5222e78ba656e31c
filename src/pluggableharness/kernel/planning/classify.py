"""From what the model wrote to a call that may be judged, or to the reason why not (P8, K3)."""

from collections.abc import Callable, Mapping, Sequence

from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.schema import (
    Violation,
    explain,
    nearest_first,
    parse_arguments,
    violations,
    without_nulls,
)

_LISTED = 100
"""Operations that a refusal lists at most."""
_LONGEST_NAME = 80
"""Characters that it repeats of a name that is none."""


def classify(
    proposed: ProposedCall,
    offered: Sequence[Operation],
    *,
    call_id: str,
    context: CallContext,
    deadline_s: Callable[[Operation], float | None],
) -> Call | RefusedCall:
    """Resolve the name among the operations in scope, then parse and check the arguments.

    `call_id` becomes the call's (P7); `deadline_s` gives the seconds that a call of an
    operation may take, None for no limit (K14).
    """
    operation = _resolve(proposed.name, offered)
    if operation is None:
        return _refused(proposed, call_id, _out_of_scope(proposed.name, offered))
    arguments = _checked(proposed.arguments, operation)
    if isinstance(arguments, Failure):
        return _refused(proposed, call_id, arguments)
    deadline = deadline_s(operation)
    return Call(call_id, operation, arguments, context, proposed.tool_use_id, deadline)


def _resolve(name: str, offered: Sequence[Operation]) -> Operation | None:
    """The operation of that name, as people write it or as vendors make models write it."""
    provider, dot, own = name.partition(".")
    for operation in offered:
        if dot:
            if operation.name == own and operation.provider == provider:
                return operation
        elif vendor_name(operation) == name:
            return operation
    return None


def _checked(written: JsonObject | str, operation: Operation) -> JsonObject | Failure:
    """Parse, drop nulls, validate: in this order, so that no check sees what will not run."""
    parsed = parse_arguments(written) if isinstance(written, str) else written
    if isinstance(parsed, Violation):
        return _invalid([parsed], operation)
    arguments = without_nulls(operation.input_schema, parsed)
    found = violations(operation.input_schema, arguments)
    if found:
        return _invalid(found, operation)
    return arguments if isinstance(written, str) else _copied(arguments)


def _copied(arguments: JsonObject) -> JsonObject:
    """The arguments as the kernel's own: who proposed them may go on changing theirs."""
    return {name: _copy(value) for name, value in arguments.items()}


def _copy(value: Json) -> Json:
    if isinstance(value, Mapping):
        return _copied(value)
    return [_copy(item) for item in value] if isinstance(value, list | tuple) else value


def _invalid(found: Sequence[Violation], operation: Operation) -> Failure:
    return Failure(
        ErrorCategory.INVALID_ARGUMENTS,
        explain(found, operation),
        details={
            "violations": [{"path": v.path, "expected": v.expected, "got": v.got} for v in found]
        },
    )


def _out_of_scope(name: str, offered: Sequence[Operation]) -> Failure:
    """The one error that lists everything: a model that guessed a name needs the others."""
    shown = in_quotes(name, _LONGEST_NAME)
    names = [operation.full_name for operation in offered]
    if not names:
        message = f"There is no tool {shown}: no tool is in scope here. Answer without one."
        return Failure(ErrorCategory.NOT_FOUND, message)
    near = _nearest_first(name, names)
    more = f" and {len(near) - _LISTED} more" if len(near) > _LISTED else ""
    listed = ", ".join(near[:_LISTED]) + more
    message = f"There is no tool {shown} here. In scope, nearest first: {listed}."
    return Failure(ErrorCategory.NOT_FOUND, message, details={"in_scope": near[:_LISTED]})


def _nearest_first(name: str, full_names: Sequence[str]) -> list[str]:
    """Compare as models write: with the vendor's separator, or with no provider at all."""
    wanted = name.replace("__", ".")
    if "." in wanted:
        return nearest_first(wanted, full_names)
    by_own = {full: full.partition(".")[2] for full in full_names}
    order = {own: place for place, own in enumerate(nearest_first(wanted, by_own.values()))}
    return sorted(full_names, key=lambda full: order[by_own[full]])


def _refused(proposed: ProposedCall, call_id: str, failure: Failure) -> RefusedCall:
    return RefusedCall(call_id, proposed.tool_use_id, proposed.name, proposed.arguments, failure)
