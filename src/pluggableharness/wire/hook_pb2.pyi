from pluggableharness.wire import common_pb2 as _common_pb2
from pluggableharness.wire import content_pb2 as _content_pb2
from pluggableharness.wire import model_pb2 as _model_pb2
from pluggableharness.wire import plan_pb2 as _plan_pb2
from pluggableharness.wire import session_pb2 as _session_pb2
from pluggableharness.wire import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HookMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_MODE_UNSPECIFIED: _ClassVar[HookMode]
    HOOK_MODE_OBSERVE: _ClassVar[HookMode]
    HOOK_MODE_TRANSFORM: _ClassVar[HookMode]
    HOOK_MODE_VETO: _ClassVar[HookMode]

class HookDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_DECISION_UNSPECIFIED: _ClassVar[HookDecision]
    HOOK_DECISION_ALLOW: _ClassVar[HookDecision]
    HOOK_DECISION_DENY: _ClassVar[HookDecision]

class HookErrorCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_ERROR_CATEGORY_UNSPECIFIED: _ClassVar[HookErrorCategory]
    HOOK_ERROR_CATEGORY_TRANSFORM_FAILED: _ClassVar[HookErrorCategory]
    HOOK_ERROR_CATEGORY_VETO_FAILED: _ClassVar[HookErrorCategory]
    HOOK_ERROR_CATEGORY_TIMEOUT: _ClassVar[HookErrorCategory]
    HOOK_ERROR_CATEGORY_INVALID_RESPONSE: _ClassVar[HookErrorCategory]
    HOOK_ERROR_CATEGORY_PROCESS_CRASHED: _ClassVar[HookErrorCategory]
    HOOK_ERROR_CATEGORY_UNKNOWN: _ClassVar[HookErrorCategory]
HOOK_MODE_UNSPECIFIED: HookMode
HOOK_MODE_OBSERVE: HookMode
HOOK_MODE_TRANSFORM: HookMode
HOOK_MODE_VETO: HookMode
HOOK_DECISION_UNSPECIFIED: HookDecision
HOOK_DECISION_ALLOW: HookDecision
HOOK_DECISION_DENY: HookDecision
HOOK_ERROR_CATEGORY_UNSPECIFIED: HookErrorCategory
HOOK_ERROR_CATEGORY_TRANSFORM_FAILED: HookErrorCategory
HOOK_ERROR_CATEGORY_VETO_FAILED: HookErrorCategory
HOOK_ERROR_CATEGORY_TIMEOUT: HookErrorCategory
HOOK_ERROR_CATEGORY_INVALID_RESPONSE: HookErrorCategory
HOOK_ERROR_CATEGORY_PROCESS_CRASHED: HookErrorCategory
HOOK_ERROR_CATEGORY_UNKNOWN: HookErrorCategory

class HookPayload(_message.Message):
    __slots__ = ("session_start", "pre_model_call", "post_model_response", "pre_tool_call", "plan_ready", "post_tool_call", "post_apply", "session_end")
    SESSION_START_FIELD_NUMBER: _ClassVar[int]
    PRE_MODEL_CALL_FIELD_NUMBER: _ClassVar[int]
    POST_MODEL_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    PRE_TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    PLAN_READY_FIELD_NUMBER: _ClassVar[int]
    POST_TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    POST_APPLY_FIELD_NUMBER: _ClassVar[int]
    SESSION_END_FIELD_NUMBER: _ClassVar[int]
    session_start: SessionStartPayload
    pre_model_call: PreModelCallPayload
    post_model_response: PostModelResponsePayload
    pre_tool_call: PreToolCallPayload
    plan_ready: PlanReadyPayload
    post_tool_call: PostToolCallPayload
    post_apply: PostApplyPayload
    session_end: SessionEndPayload
    def __init__(self, session_start: _Optional[_Union[SessionStartPayload, _Mapping]] = ..., pre_model_call: _Optional[_Union[PreModelCallPayload, _Mapping]] = ..., post_model_response: _Optional[_Union[PostModelResponsePayload, _Mapping]] = ..., pre_tool_call: _Optional[_Union[PreToolCallPayload, _Mapping]] = ..., plan_ready: _Optional[_Union[PlanReadyPayload, _Mapping]] = ..., post_tool_call: _Optional[_Union[PostToolCallPayload, _Mapping]] = ..., post_apply: _Optional[_Union[PostApplyPayload, _Mapping]] = ..., session_end: _Optional[_Union[SessionEndPayload, _Mapping]] = ...) -> None: ...

class SessionStartPayload(_message.Message):
    __slots__ = ("session_id", "profile", "parent_session_id", "working_directory")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    PARENT_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKING_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    profile: str
    parent_session_id: str
    working_directory: str
    def __init__(self, session_id: _Optional[str] = ..., profile: _Optional[str] = ..., parent_session_id: _Optional[str] = ..., working_directory: _Optional[str] = ...) -> None: ...

class PreModelCallPayload(_message.Message):
    __slots__ = ("messages", "model")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_content_pb2.Message]
    model: _model_pb2.ModelRef
    def __init__(self, messages: _Optional[_Iterable[_Union[_content_pb2.Message, _Mapping]]] = ..., model: _Optional[_Union[_model_pb2.ModelRef, _Mapping]] = ...) -> None: ...

class PostModelResponsePayload(_message.Message):
    __slots__ = ("message", "model", "usage", "cost_usd")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    message: _content_pb2.Message
    model: _common_pb2.ProducerRef
    usage: _model_pb2.Usage
    cost_usd: float
    def __init__(self, message: _Optional[_Union[_content_pb2.Message, _Mapping]] = ..., model: _Optional[_Union[_common_pb2.ProducerRef, _Mapping]] = ..., usage: _Optional[_Union[_model_pb2.Usage, _Mapping]] = ..., cost_usd: _Optional[float] = ...) -> None: ...

class PreToolCallPayload(_message.Message):
    __slots__ = ("call", "plan_item")
    CALL_FIELD_NUMBER: _ClassVar[int]
    PLAN_ITEM_FIELD_NUMBER: _ClassVar[int]
    call: _tool_pb2.ToolCall
    plan_item: _plan_pb2.PlanItem
    def __init__(self, call: _Optional[_Union[_tool_pb2.ToolCall, _Mapping]] = ..., plan_item: _Optional[_Union[_plan_pb2.PlanItem, _Mapping]] = ...) -> None: ...

class PlanReadyPayload(_message.Message):
    __slots__ = ("plan",)
    PLAN_FIELD_NUMBER: _ClassVar[int]
    plan: _plan_pb2.Plan
    def __init__(self, plan: _Optional[_Union[_plan_pb2.Plan, _Mapping]] = ...) -> None: ...

class PostToolCallPayload(_message.Message):
    __slots__ = ("call", "result", "error")
    CALL_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    call: _tool_pb2.ToolCall
    result: _tool_pb2.ToolResult
    error: _tool_pb2.ToolError
    def __init__(self, call: _Optional[_Union[_tool_pb2.ToolCall, _Mapping]] = ..., result: _Optional[_Union[_tool_pb2.ToolResult, _Mapping]] = ..., error: _Optional[_Union[_tool_pb2.ToolError, _Mapping]] = ...) -> None: ...

class PostApplyPayload(_message.Message):
    __slots__ = ("apply",)
    APPLY_FIELD_NUMBER: _ClassVar[int]
    apply: _plan_pb2.ApplyResult
    def __init__(self, apply: _Optional[_Union[_plan_pb2.ApplyResult, _Mapping]] = ...) -> None: ...

class SessionEndPayload(_message.Message):
    __slots__ = ("session_id", "status")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    status: _session_pb2.SessionStatus
    def __init__(self, session_id: _Optional[str] = ..., status: _Optional[_Union[_session_pb2.SessionStatus, str]] = ...) -> None: ...

class DispatchHookRequest(_message.Message):
    __slots__ = ("payload", "mode", "subscription_id")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_ID_FIELD_NUMBER: _ClassVar[int]
    payload: HookPayload
    mode: HookMode
    subscription_id: str
    def __init__(self, payload: _Optional[_Union[HookPayload, _Mapping]] = ..., mode: _Optional[_Union[HookMode, str]] = ..., subscription_id: _Optional[str] = ...) -> None: ...

class DispatchHookResponse(_message.Message):
    __slots__ = ("observe", "transform", "veto")
    class ObserveAck(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class TransformResult(_message.Message):
        __slots__ = ("payload",)
        PAYLOAD_FIELD_NUMBER: _ClassVar[int]
        payload: HookPayload
        def __init__(self, payload: _Optional[_Union[HookPayload, _Mapping]] = ...) -> None: ...
    class VetoResult(_message.Message):
        __slots__ = ("decision",)
        DECISION_FIELD_NUMBER: _ClassVar[int]
        decision: HookDecision
        def __init__(self, decision: _Optional[_Union[HookDecision, str]] = ...) -> None: ...
    OBSERVE_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    VETO_FIELD_NUMBER: _ClassVar[int]
    observe: DispatchHookResponse.ObserveAck
    transform: DispatchHookResponse.TransformResult
    veto: DispatchHookResponse.VetoResult
    def __init__(self, observe: _Optional[_Union[DispatchHookResponse.ObserveAck, _Mapping]] = ..., transform: _Optional[_Union[DispatchHookResponse.TransformResult, _Mapping]] = ..., veto: _Optional[_Union[DispatchHookResponse.VetoResult, _Mapping]] = ...) -> None: ...

class HookError(_message.Message):
    __slots__ = ("point", "subscriber", "mode", "category", "message")
    POINT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    point: _common_pb2.HookPoint
    subscriber: _common_pb2.ProducerRef
    mode: HookMode
    category: HookErrorCategory
    message: str
    def __init__(self, point: _Optional[_Union[_common_pb2.HookPoint, str]] = ..., subscriber: _Optional[_Union[_common_pb2.ProducerRef, _Mapping]] = ..., mode: _Optional[_Union[HookMode, str]] = ..., category: _Optional[_Union[HookErrorCategory, str]] = ..., message: _Optional[str] = ...) -> None: ...
