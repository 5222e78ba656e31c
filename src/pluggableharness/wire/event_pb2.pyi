from pluggableharness.wire import common_pb2 as _common_pb2
from pluggableharness.wire import content_pb2 as _content_pb2
from pluggableharness.wire import hook_pb2 as _hook_pb2
from pluggableharness.wire import model_pb2 as _model_pb2
from pluggableharness.wire import plan_pb2 as _plan_pb2
from pluggableharness.wire import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MessageEvent(_message.Message):
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

class ToolCallEvent(_message.Message):
    __slots__ = ("call",)
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: _tool_pb2.ToolCall
    def __init__(self, call: _Optional[_Union[_tool_pb2.ToolCall, _Mapping]] = ...) -> None: ...

class ToolResultEvent(_message.Message):
    __slots__ = ("tool_call_id", "result", "error")
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    tool_call_id: str
    result: _tool_pb2.ToolResult
    error: _tool_pb2.ToolError
    def __init__(self, tool_call_id: _Optional[str] = ..., result: _Optional[_Union[_tool_pb2.ToolResult, _Mapping]] = ..., error: _Optional[_Union[_tool_pb2.ToolError, _Mapping]] = ...) -> None: ...

class PlanEvent(_message.Message):
    __slots__ = ("plan",)
    PLAN_FIELD_NUMBER: _ClassVar[int]
    plan: _plan_pb2.Plan
    def __init__(self, plan: _Optional[_Union[_plan_pb2.Plan, _Mapping]] = ...) -> None: ...

class ApplyEvent(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: _plan_pb2.ApplyResult
    def __init__(self, result: _Optional[_Union[_plan_pb2.ApplyResult, _Mapping]] = ...) -> None: ...

class ContextContributionEvent(_message.Message):
    __slots__ = ("content", "tokens", "target")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    content: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentBlock]
    tokens: int
    target: _model_pb2.ModelTarget
    def __init__(self, content: _Optional[_Iterable[_Union[_content_pb2.ContentBlock, _Mapping]]] = ..., tokens: _Optional[int] = ..., target: _Optional[_Union[_model_pb2.ModelTarget, _Mapping]] = ...) -> None: ...

class MemoryMutationEvent(_message.Message):
    __slots__ = ("record_id", "content", "attributes")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RECORD_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    record_id: str
    content: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentBlock]
    attributes: _containers.ScalarMap[str, str]
    def __init__(self, record_id: _Optional[str] = ..., content: _Optional[_Iterable[_Union[_content_pb2.ContentBlock, _Mapping]]] = ..., attributes: _Optional[_Mapping[str, str]] = ...) -> None: ...

class HookErrorEvent(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: _hook_pb2.HookError
    def __init__(self, error: _Optional[_Union[_hook_pb2.HookError, _Mapping]] = ...) -> None: ...
