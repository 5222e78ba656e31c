import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from pluggableharness.wire import common_pb2 as _common_pb2
from pluggableharness.wire import config_pb2 as _config_pb2
from pluggableharness.wire import render_pb2 as _render_pb2
from pluggableharness.wire import schema_pb2 as _schema_pb2
from pluggableharness.wire import slashcommand_pb2 as _slashcommand_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_KIND_UNSPECIFIED: _ClassVar[ToolKind]
    TOOL_KIND_RESOURCE: _ClassVar[ToolKind]
    TOOL_KIND_DATA_SOURCE: _ClassVar[ToolKind]
    TOOL_KIND_INTERACTIVE: _ClassVar[ToolKind]

class RiskClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_CLASS_UNSPECIFIED: _ClassVar[RiskClass]
    RISK_CLASS_READ_ONLY: _ClassVar[RiskClass]
    RISK_CLASS_LOW: _ClassVar[RiskClass]
    RISK_CLASS_MODERATE: _ClassVar[RiskClass]
    RISK_CLASS_HIGH: _ClassVar[RiskClass]
    RISK_CLASS_CRITICAL: _ClassVar[RiskClass]

class OutputStream(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTPUT_STREAM_UNSPECIFIED: _ClassVar[OutputStream]
    OUTPUT_STREAM_STDOUT: _ClassVar[OutputStream]
    OUTPUT_STREAM_STDERR: _ClassVar[OutputStream]

class ToolErrorCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_ERROR_CATEGORY_UNSPECIFIED: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_NOT_FOUND: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_PERMISSION_DENIED: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_EXECUTION_FAILED: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_TIMEOUT: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_CANCELLED: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_PROCESS_CRASHED: _ClassVar[ToolErrorCategory]
    TOOL_ERROR_CATEGORY_UNKNOWN: _ClassVar[ToolErrorCategory]
TOOL_KIND_UNSPECIFIED: ToolKind
TOOL_KIND_RESOURCE: ToolKind
TOOL_KIND_DATA_SOURCE: ToolKind
TOOL_KIND_INTERACTIVE: ToolKind
RISK_CLASS_UNSPECIFIED: RiskClass
RISK_CLASS_READ_ONLY: RiskClass
RISK_CLASS_LOW: RiskClass
RISK_CLASS_MODERATE: RiskClass
RISK_CLASS_HIGH: RiskClass
RISK_CLASS_CRITICAL: RiskClass
OUTPUT_STREAM_UNSPECIFIED: OutputStream
OUTPUT_STREAM_STDOUT: OutputStream
OUTPUT_STREAM_STDERR: OutputStream
TOOL_ERROR_CATEGORY_UNSPECIFIED: ToolErrorCategory
TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS: ToolErrorCategory
TOOL_ERROR_CATEGORY_NOT_FOUND: ToolErrorCategory
TOOL_ERROR_CATEGORY_PERMISSION_DENIED: ToolErrorCategory
TOOL_ERROR_CATEGORY_EXECUTION_FAILED: ToolErrorCategory
TOOL_ERROR_CATEGORY_TIMEOUT: ToolErrorCategory
TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT: ToolErrorCategory
TOOL_ERROR_CATEGORY_CANCELLED: ToolErrorCategory
TOOL_ERROR_CATEGORY_PROCESS_CRASHED: ToolErrorCategory
TOOL_ERROR_CATEGORY_UNKNOWN: ToolErrorCategory

class GetSchemaRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetSchemaResponse(_message.Message):
    __slots__ = ("tools", "slash_commands", "config_schema", "supported_hook_points")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SLASH_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_HOOK_POINTS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ToolSchema]
    slash_commands: _containers.RepeatedCompositeFieldContainer[_slashcommand_pb2.SlashCommandSpec]
    config_schema: _config_pb2.ConfigSchema
    supported_hook_points: _containers.RepeatedScalarFieldContainer[_common_pb2.HookPoint]
    def __init__(self, tools: _Optional[_Iterable[_Union[ToolSchema, _Mapping]]] = ..., slash_commands: _Optional[_Iterable[_Union[_slashcommand_pb2.SlashCommandSpec, _Mapping]]] = ..., config_schema: _Optional[_Union[_config_pb2.ConfigSchema, _Mapping]] = ..., supported_hook_points: _Optional[_Iterable[_Union[_common_pb2.HookPoint, str]]] = ...) -> None: ...

class ConfigureRequest(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: _struct_pb2.Struct
    def __init__(self, config: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ConfigureResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ConcurrencySpec(_message.Message):
    __slots__ = ("safe", "key_fields")
    SAFE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELDS_FIELD_NUMBER: _ClassVar[int]
    safe: bool
    key_fields: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, safe: bool = ..., key_fields: _Optional[_Iterable[str]] = ...) -> None: ...

class ToolSchema(_message.Message):
    __slots__ = ("name", "kind", "risk", "description", "input_schema", "output_schema", "streaming", "concurrency", "default_timeout", "idempotent", "terminates_turn")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RISK_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STREAMING_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    TERMINATES_TURN_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: ToolKind
    risk: RiskClass
    description: str
    input_schema: _schema_pb2.Schema
    output_schema: _schema_pb2.Schema
    streaming: bool
    concurrency: ConcurrencySpec
    default_timeout: _duration_pb2.Duration
    idempotent: bool
    terminates_turn: bool
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[ToolKind, str]] = ..., risk: _Optional[_Union[RiskClass, str]] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_schema_pb2.Schema, _Mapping]] = ..., output_schema: _Optional[_Union[_schema_pb2.Schema, _Mapping]] = ..., streaming: bool = ..., concurrency: _Optional[_Union[ConcurrencySpec, _Mapping]] = ..., default_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., idempotent: bool = ..., terminates_turn: bool = ...) -> None: ...

class InvokeRequest(_message.Message):
    __slots__ = ("call",)
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: ToolCall
    def __init__(self, call: _Optional[_Union[ToolCall, _Mapping]] = ...) -> None: ...

class InvokeResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: ToolEvent
    def __init__(self, event: _Optional[_Union[ToolEvent, _Mapping]] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("id", "tool_name", "arguments", "call_context")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    CALL_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    id: str
    tool_name: str
    arguments: _struct_pb2.Struct
    call_context: _common_pb2.CallContext
    def __init__(self, id: _Optional[str] = ..., tool_name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., call_context: _Optional[_Union[_common_pb2.CallContext, _Mapping]] = ...) -> None: ...

class ToolEvent(_message.Message):
    __slots__ = ("output_chunk", "progress", "partial_result", "exit_status", "result", "error")
    class OutputChunk(_message.Message):
        __slots__ = ("stream", "data")
        STREAM_FIELD_NUMBER: _ClassVar[int]
        DATA_FIELD_NUMBER: _ClassVar[int]
        stream: OutputStream
        data: bytes
        def __init__(self, stream: _Optional[_Union[OutputStream, str]] = ..., data: _Optional[bytes] = ...) -> None: ...
    class Progress(_message.Message):
        __slots__ = ("message", "fraction_complete")
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        FRACTION_COMPLETE_FIELD_NUMBER: _ClassVar[int]
        message: str
        fraction_complete: float
        def __init__(self, message: _Optional[str] = ..., fraction_complete: _Optional[float] = ...) -> None: ...
    class PartialResult(_message.Message):
        __slots__ = ("payload",)
        PAYLOAD_FIELD_NUMBER: _ClassVar[int]
        payload: _struct_pb2.Struct
        def __init__(self, payload: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...
    class ExitStatus(_message.Message):
        __slots__ = ("exit_code", "signal")
        EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
        SIGNAL_FIELD_NUMBER: _ClassVar[int]
        exit_code: int
        signal: str
        def __init__(self, exit_code: _Optional[int] = ..., signal: _Optional[str] = ...) -> None: ...
    OUTPUT_CHUNK_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_RESULT_FIELD_NUMBER: _ClassVar[int]
    EXIT_STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    output_chunk: ToolEvent.OutputChunk
    progress: ToolEvent.Progress
    partial_result: ToolEvent.PartialResult
    exit_status: ToolEvent.ExitStatus
    result: ToolResult
    error: ToolError
    def __init__(self, output_chunk: _Optional[_Union[ToolEvent.OutputChunk, _Mapping]] = ..., progress: _Optional[_Union[ToolEvent.Progress, _Mapping]] = ..., partial_result: _Optional[_Union[ToolEvent.PartialResult, _Mapping]] = ..., exit_status: _Optional[_Union[ToolEvent.ExitStatus, _Mapping]] = ..., result: _Optional[_Union[ToolResult, _Mapping]] = ..., error: _Optional[_Union[ToolError, _Mapping]] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("payload",)
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: _struct_pb2.Struct
    def __init__(self, payload: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ToolError(_message.Message):
    __slots__ = ("category", "message", "retryable", "details")
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    category: ToolErrorCategory
    message: str
    retryable: bool
    details: _struct_pb2.Struct
    def __init__(self, category: _Optional[_Union[ToolErrorCategory, str]] = ..., message: _Optional[str] = ..., retryable: bool = ..., details: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RenderRequest(_message.Message):
    __slots__ = ("payload", "schema_version")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    schema_version: str
    def __init__(self, payload: _Optional[bytes] = ..., schema_version: _Optional[str] = ...) -> None: ...

class RenderResponse(_message.Message):
    __slots__ = ("tree",)
    TREE_FIELD_NUMBER: _ClassVar[int]
    tree: _render_pb2.RenderTree
    def __init__(self, tree: _Optional[_Union[_render_pb2.RenderTree, _Mapping]] = ...) -> None: ...

class PreviewRequest(_message.Message):
    __slots__ = ("call",)
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: ToolCall
    def __init__(self, call: _Optional[_Union[ToolCall, _Mapping]] = ...) -> None: ...

class PreviewResponse(_message.Message):
    __slots__ = ("preview",)
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    preview: _render_pb2.RenderTree
    def __init__(self, preview: _Optional[_Union[_render_pb2.RenderTree, _Mapping]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("producer",)
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    producer: _common_pb2.ProducerRef
    def __init__(self, producer: _Optional[_Union[_common_pb2.ProducerRef, _Mapping]] = ...) -> None: ...
