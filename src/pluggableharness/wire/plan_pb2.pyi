from google.protobuf import struct_pb2 as _struct_pb2
from pluggableharness.wire import render_pb2 as _render_pb2
from pluggableharness.wire import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_DECISION_UNSPECIFIED: _ClassVar[PlanDecision]
    PLAN_DECISION_PENDING: _ClassVar[PlanDecision]
    PLAN_DECISION_ALLOW: _ClassVar[PlanDecision]
    PLAN_DECISION_ASK: _ClassVar[PlanDecision]
    PLAN_DECISION_DENY: _ClassVar[PlanDecision]
PLAN_DECISION_UNSPECIFIED: PlanDecision
PLAN_DECISION_PENDING: PlanDecision
PLAN_DECISION_ALLOW: PlanDecision
PLAN_DECISION_ASK: PlanDecision
PLAN_DECISION_DENY: PlanDecision

class PlanItem(_message.Message):
    __slots__ = ("id", "tool_call_id", "provider", "tool_name", "input", "decision", "decided_by", "kind", "risk", "description", "preview")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RISK_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    id: str
    tool_call_id: str
    provider: str
    tool_name: str
    input: _struct_pb2.Struct
    decision: PlanDecision
    decided_by: str
    kind: _tool_pb2.ToolKind
    risk: _tool_pb2.RiskClass
    description: str
    preview: _render_pb2.RenderTree
    def __init__(self, id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., provider: _Optional[str] = ..., tool_name: _Optional[str] = ..., input: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., decision: _Optional[_Union[PlanDecision, str]] = ..., decided_by: _Optional[str] = ..., kind: _Optional[_Union[_tool_pb2.ToolKind, str]] = ..., risk: _Optional[_Union[_tool_pb2.RiskClass, str]] = ..., description: _Optional[str] = ..., preview: _Optional[_Union[_render_pb2.RenderTree, _Mapping]] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("turn_id", "items")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    items: _containers.RepeatedCompositeFieldContainer[PlanItem]
    def __init__(self, turn_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[PlanItem, _Mapping]]] = ...) -> None: ...

class ApplyResult(_message.Message):
    __slots__ = ("turn_id", "items")
    class ApplyOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        APPLY_OUTCOME_UNSPECIFIED: _ClassVar[ApplyResult.ApplyOutcome]
        APPLY_OUTCOME_APPLIED: _ClassVar[ApplyResult.ApplyOutcome]
        APPLY_OUTCOME_FAILED: _ClassVar[ApplyResult.ApplyOutcome]
        APPLY_OUTCOME_DENIED: _ClassVar[ApplyResult.ApplyOutcome]
        APPLY_OUTCOME_SKIPPED: _ClassVar[ApplyResult.ApplyOutcome]
    APPLY_OUTCOME_UNSPECIFIED: ApplyResult.ApplyOutcome
    APPLY_OUTCOME_APPLIED: ApplyResult.ApplyOutcome
    APPLY_OUTCOME_FAILED: ApplyResult.ApplyOutcome
    APPLY_OUTCOME_DENIED: ApplyResult.ApplyOutcome
    APPLY_OUTCOME_SKIPPED: ApplyResult.ApplyOutcome
    class ApplyItem(_message.Message):
        __slots__ = ("plan_item_id", "tool_call_id", "outcome", "tool_result", "tool_error")
        PLAN_ITEM_ID_FIELD_NUMBER: _ClassVar[int]
        TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
        OUTCOME_FIELD_NUMBER: _ClassVar[int]
        TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
        TOOL_ERROR_FIELD_NUMBER: _ClassVar[int]
        plan_item_id: str
        tool_call_id: str
        outcome: ApplyResult.ApplyOutcome
        tool_result: _tool_pb2.ToolResult
        tool_error: _tool_pb2.ToolError
        def __init__(self, plan_item_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., outcome: _Optional[_Union[ApplyResult.ApplyOutcome, str]] = ..., tool_result: _Optional[_Union[_tool_pb2.ToolResult, _Mapping]] = ..., tool_error: _Optional[_Union[_tool_pb2.ToolError, _Mapping]] = ...) -> None: ...
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    items: _containers.RepeatedCompositeFieldContainer[ApplyResult.ApplyItem]
    def __init__(self, turn_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[ApplyResult.ApplyItem, _Mapping]]] = ...) -> None: ...
