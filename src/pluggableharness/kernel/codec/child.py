"""Child sessions to and from the wire."""

from collections.abc import Iterable

from pluggableharness.kernel.codec.enums import numbers
from pluggableharness.kernel.domain.child import ChildEnd, ChildRequest
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.wire import content_pb2, kernel_pb2, session_pb2

_STATUS_NUMBERS = numbers(SessionStatus, session_pb2.SessionStatus, "SESSION_STATUS")


def child_request_from_wire(
    raw: kernel_pb2.RunSessionRequest, callers: Iterable[str]
) -> ChildRequest:
    """Return what a provider asks for, on behalf of these calls.

    Raises:
        ValueError: a bound is below 0 or no number; 0 is "not given".
    """
    cost_usd = raw.remaining_cost_budget_usd
    if raw.remaining_depth < 0 or not cost_usd >= 0:
        raise ValueError("remaining_depth and remaining_cost_budget_usd cannot be below 0")
    return ChildRequest(
        raw.profile,
        raw.prompt,
        raw.parent_session_id,
        frozenset(callers),
        tuple(provider.name for provider in raw.scoped_providers),
        raw.remaining_depth or None,
        cost_usd or None,
    )


def child_end_to_wire(end: ChildEnd) -> kernel_pb2.RunSessionResult:
    """Return the message of a child's end."""
    text = end.final_text.encode("utf-8", "backslashreplace").decode()
    block = content_pb2.ContentBlock(text=content_pb2.TextBlock(text=text))
    return kernel_pb2.RunSessionResult(
        session_id=end.session_id,
        final_message=content_pb2.Message(role=content_pb2.ROLE_ASSISTANT, content=[block]),
        status=_STATUS_NUMBERS[end.status],
        total_cost_usd=end.cost_usd,
        total_input_tokens=end.usage.input_tokens,
        total_output_tokens=end.usage.output_tokens,
    )
