import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATUS_UNSPECIFIED: _ClassVar[SessionStatus]
    SESSION_STATUS_RUNNING: _ClassVar[SessionStatus]
    SESSION_STATUS_COMPLETED: _ClassVar[SessionStatus]
    SESSION_STATUS_ERROR_MAX_TURNS: _ClassVar[SessionStatus]
    SESSION_STATUS_ERROR_MAX_BUDGET_USD: _ClassVar[SessionStatus]
    SESSION_STATUS_ERROR_MAX_WALL_CLOCK: _ClassVar[SessionStatus]
    SESSION_STATUS_CANCELLED: _ClassVar[SessionStatus]
    SESSION_STATUS_FAILED: _ClassVar[SessionStatus]
SESSION_STATUS_UNSPECIFIED: SessionStatus
SESSION_STATUS_RUNNING: SessionStatus
SESSION_STATUS_COMPLETED: SessionStatus
SESSION_STATUS_ERROR_MAX_TURNS: SessionStatus
SESSION_STATUS_ERROR_MAX_BUDGET_USD: SessionStatus
SESSION_STATUS_ERROR_MAX_WALL_CLOCK: SessionStatus
SESSION_STATUS_CANCELLED: SessionStatus
SESSION_STATUS_FAILED: SessionStatus

class SessionInfo(_message.Message):
    __slots__ = ("session_id", "parent_session_id", "profile", "status", "depth", "started_at", "ended_at", "cost_usd")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    parent_session_id: str
    profile: str
    status: SessionStatus
    depth: int
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    cost_usd: float
    def __init__(self, session_id: _Optional[str] = ..., parent_session_id: _Optional[str] = ..., profile: _Optional[str] = ..., status: _Optional[_Union[SessionStatus, str]] = ..., depth: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cost_usd: _Optional[float] = ...) -> None: ...
