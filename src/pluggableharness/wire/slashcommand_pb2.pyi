from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Dispatch(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISPATCH_UNSPECIFIED: _ClassVar[Dispatch]
    DISPATCH_DIRECT_INVOKE: _ClassVar[Dispatch]
    DISPATCH_PROMPT_EXPANSION: _ClassVar[Dispatch]
DISPATCH_UNSPECIFIED: Dispatch
DISPATCH_DIRECT_INVOKE: Dispatch
DISPATCH_PROMPT_EXPANSION: Dispatch

class SlashCommandSpec(_message.Message):
    __slots__ = ("name", "description", "dispatch", "tool_name", "template")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    dispatch: Dispatch
    tool_name: str
    template: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., dispatch: _Optional[_Union[Dispatch, str]] = ..., tool_name: _Optional[str] = ..., template: _Optional[str] = ...) -> None: ...
