"""Hooks to and from the wire (K25, K26): requests, answers, and failures for the record."""

from typing import assert_never

from google.protobuf.message import DecodeError

from pluggableharness.kernel.codec.enums import numbers
from pluggableharness.kernel.codec.json_text import unicode_text
from pluggableharness.kernel.codec.record import apply_to_wire, plan_to_wire, recorded_call
from pluggableharness.kernel.codec.record_messages import message_from_wire, message_to_wire
from pluggableharness.kernel.codec.record_objects import outcome_to_message
from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.hook import (
    AfterApply,
    AfterCall,
    AfterModel,
    AtSessionEnd,
    AtSessionStart,
    BeforeCall,
    BeforeModel,
    HookAnswer,
    HookFailed,
    HookMode,
    HookPayload,
    HookPoint,
    HookTrouble,
    PlanMade,
    Subscription,
)
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.wire import (
    common_pb2,
    event_pb2,
    hook_pb2,
    model_pb2,
    session_pb2,
    tool_pb2,
)

_MODES = numbers(HookMode, hook_pb2.HookMode, "HOOK_MODE")
_POINTS = numbers(HookPoint, common_pb2.HookPoint, "HOOK_POINT")
_TROUBLES = numbers(HookTrouble, hook_pb2.HookErrorCategory, "HOOK_ERROR_CATEGORY")
_STATUSES = numbers(SessionStatus, session_pb2.SessionStatus, "SESSION_STATUS")

_OUTCOMES = {HookMode.OBSERVE: "observe", HookMode.TRANSFORM: "transform", HookMode.VETO: "veto"}


def hook_request(subscription: Subscription, payload: HookPayload) -> bytes:
    """A DispatchHookRequest."""
    request = hook_pb2.DispatchHookRequest(
        payload=_payload_to_wire(payload), mode=_MODES[subscription.mode]
    )
    if subscription.id:
        request.subscription_id = subscription.id
    return request.SerializeToString()


def hook_answer(subscription: Subscription, payload: HookPayload, data: bytes) -> HookAnswer:
    """Read the answer to a request that held this payload.

    Raises:
        HookFailed: it does not fit the mode, or changes what may not be changed.
    """
    try:
        response = hook_pb2.DispatchHookResponse.FromString(data)
    except DecodeError:
        raise HookFailed(HookTrouble.INVALID_RESPONSE, "its answer cannot be decoded") from None
    expected, given = _OUTCOMES[subscription.mode], response.WhichOneof("outcome")
    if given != expected:
        raise HookFailed(
            HookTrouble.INVALID_RESPONSE, f"it answered with {given or 'nothing'}, not {expected}"
        )
    match subscription.mode:
        case HookMode.OBSERVE:
            return HookAnswer(payload)
        case HookMode.TRANSFORM:
            return HookAnswer(_transformed(payload, response.transform.payload))
        case HookMode.VETO:
            return HookAnswer(payload, _allows(response.veto.decision))
        case _:
            assert_never(subscription.mode)


def hook_error_payload(
    subscription: Subscription, producer: Producer, trouble: HookTrouble, message: str
) -> bytes:
    """A HookErrorEvent."""
    error = hook_pb2.HookError(
        point=_POINTS[subscription.point],
        subscriber=common_pb2.ProducerRef(
            name=unicode_text(producer.name),
            version=unicode_text(producer.version),
            source=unicode_text(producer.source),
            category=common_pb2.CATEGORY_TOOL,
            protocol_version=producer.protocol_version,
        ),
        mode=_MODES[subscription.mode],
        category=_TROUBLES[trouble],
        message=unicode_text(message),
    )
    return event_pb2.HookErrorEvent(error=error).SerializeToString()


def _allows(decision: int) -> bool:
    if decision == hook_pb2.HOOK_DECISION_ALLOW:
        return True
    if decision == hook_pb2.HOOK_DECISION_DENY:
        return False
    raise HookFailed(HookTrouble.INVALID_RESPONSE, "its veto says neither allow nor deny")


def _transformed(sent: HookPayload, raw: hook_pb2.HookPayload) -> HookPayload:
    """The payload as a transformer left it: messages may differ, and nothing else (K26)."""
    expected = _payload_to_wire(sent)
    if not isinstance(sent, BeforeModel):
        if raw != expected:
            raise HookFailed(HookTrouble.INVALID_RESPONSE, "there is nothing here to change")
        return sent
    if raw.WhichOneof("payload") != "pre_model_call":
        raise HookFailed(HookTrouble.INVALID_RESPONSE, "its payload is of another point")
    changed = raw.pre_model_call
    if changed.model != expected.pre_model_call.model:
        raise HookFailed(HookTrouble.INVALID_RESPONSE, "it changed more than the messages")
    try:
        return BeforeModel(tuple(map(message_from_wire, changed.messages)), sent.model)
    except ValueError as error:
        raise HookFailed(
            HookTrouble.INVALID_RESPONSE, f"one of its messages is none: {error}"
        ) from None


def _payload_to_wire(payload: HookPayload) -> hook_pb2.HookPayload:
    raw = hook_pb2.HookPayload()
    match payload:
        case AtSessionStart():
            start = raw.session_start
            start.session_id, start.profile = payload.session_id, unicode_text(payload.profile)
            start.working_directory = unicode_text(payload.working_directory)
            if payload.parent:
                start.parent_session_id = payload.parent
        case BeforeModel():
            raw.pre_model_call.messages.extend(map(message_to_wire, payload.messages))
            raw.pre_model_call.model.CopyFrom(_model_ref(payload.model))
        case AfterModel():
            raw.post_model_response.CopyFrom(_after_model(payload))
        case BeforeCall():
            raw.pre_tool_call.call.CopyFrom(recorded_call(payload.call))
        case PlanMade():
            raw.plan_ready.plan.CopyFrom(plan_to_wire(payload.plan))
        case AfterCall():
            raw.post_tool_call.CopyFrom(_after_call(payload))
        case AfterApply():
            raw.post_apply.apply.CopyFrom(apply_to_wire(payload.turn_id, payload.items))
        case AtSessionEnd():
            raw.session_end.session_id = payload.session_id
            raw.session_end.status = _STATUSES[payload.status]
        case _:
            assert_never(payload)
    return raw


def _model_ref(name: str) -> model_pb2.ModelRef:
    return model_pb2.ModelRef(id=unicode_text(name))


def _after_model(payload: AfterModel) -> hook_pb2.PostModelResponsePayload:
    usage = payload.usage
    return hook_pb2.PostModelResponsePayload(
        message=message_to_wire(payload.message),
        model=common_pb2.ProducerRef(
            name=unicode_text(payload.model), category=common_pb2.CATEGORY_MODEL
        ),
        usage=model_pb2.Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
        cost_usd=payload.cost_usd,
    )


def _after_call(payload: AfterCall) -> hook_pb2.PostToolCallPayload:
    raw = hook_pb2.PostToolCallPayload(call=recorded_call(payload.call))
    ended = outcome_to_message(payload.outcome)
    if isinstance(ended, tool_pb2.ToolResult):
        raw.result.CopyFrom(ended)
    else:
        raw.error.CopyFrom(ended)
    return raw
