"""A provider's settings: a dataclass, its ConfigSchema, and reading what Configure brings (P28).

Whatever is marked `Secret` is never shown in an error, and is collected for the redaction of
everything that the provider sends (P31).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from pluggableharness.sdk.arguments import probe, refusal, violations, without_nulls
from pluggableharness.sdk.failures import InvalidArguments
from pluggableharness.sdk.shapes import Direction, Kind, Shape, Unshapely, shape_of
from pluggableharness.wire.config_pb2 import AttrType, ConfigAttribute, ConfigSchema

S = TypeVar("S")

_SCALARS: Final = {
    Kind.STRING: AttrType.ATTR_TYPE_STRING,
    Kind.NUMBER: AttrType.ATTR_TYPE_NUMBER,
    Kind.BOOLEAN: AttrType.ATTR_TYPE_BOOL,
}
_LISTS: Final = {
    Kind.STRING: AttrType.ATTR_TYPE_LIST_STRING,
    Kind.NUMBER: AttrType.ATTR_TYPE_LIST_NUMBER,
}


class SettingsReader(Generic[S]):
    """Reads settings of one dataclass; `None` stands for a provider without any."""

    def __init__(self, settings: type[S] | None, problems: list[str]) -> None:
        """Derive the schema; `problems` takes every field that a configuration cannot hold."""
        shape = None if settings is None else _shape(settings, problems)
        self._class = None if shape is None else settings
        self._shape = shape or Shape(Kind.OBJECT, dict, closed=True)
        self.schema = ConfigSchema(attributes=_attributes(self._shape))

    def read(self, values: Mapping[str, Any]) -> S:
        """Return the settings that a decoded provider block stands for.

        Raises:
            InvalidArguments: naming each field that is missing, unknown or wrong.
        """
        given = without_nulls(self._shape, values)
        found = list(violations(self._shape, given, ""))
        if found:
            raise refusal(found)
        if self._class is None:
            return None  # type: ignore[return-value]  # S is None where there is no class
        try:
            return msgspec.convert(given, self._class)
        except msgspec.ValidationError as error:
            # What is left is what the class itself refuses, in __post_init__.
            raise InvalidArguments(str(error)) from None

    def secrets(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the secret texts among the values of a block."""
        return tuple(_secrets(self._shape, values))


def _shape(settings: type[Any], problems: list[str]) -> Shape | None:
    """The shape of settings that a configuration can hold; None for others, which are noted."""
    if not is_dataclass(settings):
        problems.append(f"settings {settings.__name__} is no dataclass")
        return None
    try:
        shape = shape_of(settings, "settings", Direction.IN)
    except Unshapely as unshapely:
        problems += unshapely.problems
        return None
    found = _problems(shape, "settings")
    if not found:
        try:
            probe(settings)
        except TypeError as error:
            found = [f"settings {settings.__name__} cannot be checked: {error}"]
    problems += found
    return None if found else shape


def _problems(shape: Shape, path: str) -> list[str]:
    found: list[str] = []
    for name, member in shape.properties.items():
        where = f"{path}.{name}"
        if member.closed:
            found += _problems(member, where)
        elif _type(member) is None:
            found.append(
                f"{where} is {member.core}; a configuration holds strings, numbers, booleans, "
                "lists of strings or numbers, dict[str, str] and dataclasses of these"
            )
    return found


def _type(shape: Shape) -> AttrType | None:
    if shape.kind is Kind.ARRAY:
        return _LISTS.get(shape.items.kind) if shape.items else None
    if shape.kind is Kind.OBJECT:
        if shape.closed:
            return AttrType.ATTR_TYPE_OBJECT
        texts = shape.items is not None and shape.items.kind is Kind.STRING
        return AttrType.ATTR_TYPE_MAP_STRING if texts else None
    return _SCALARS[shape.kind]


def _attributes(shape: Shape) -> list[ConfigAttribute]:
    defaults = _defaults(shape)
    return [
        ConfigAttribute(
            name=name,
            type=_type(member),
            required=name in shape.required,
            sensitive=member.secret,
            description=member.description,
            object_attributes=_attributes(member),
            default_json=defaults.get(name),
        )
        for name, member in shape.properties.items()
    ]


def _defaults(shape: Shape) -> dict[str, str]:
    """Return the defaults of an object as JSON; None is what an absent one is anyway."""
    told = {name: _told(shape.properties[name], value) for name, value in _own(shape).items()}
    return {
        name: msgspec.json.encode(value).decode()
        for name, value in told.items()
        if value is not MISSING and value is not None
    }


def _own(shape: Shape) -> dict[str, Any]:
    """Return the defaults that a dataclass gives to its fields."""
    found: dict[str, Any] = {}
    for member in fields(shape.core) if is_dataclass(shape.core) else ():
        value = member.default
        if value is MISSING and member.default_factory is not MISSING:
            value = member.default_factory()
        if value is not MISSING:
            found[member.name] = value
    return found


def _told(shape: Shape, value: Any) -> Any:
    """Return a default as the host may be told it: without the secrets within it.

    The host gives it back as if it had been written into the configuration, where no secret may
    stand. MISSING is returned where the default would then be another one, and for a secret; what
    the host does not know of, is filled in here.
    """
    if shape.secret:
        return MISSING
    if not shape.closed or value is None:
        return value
    own, told = _own(shape), {}
    for name, member in shape.properties.items():
        inner = getattr(value, name)
        told[name] = _told(member, inner)
        if told[name] is MISSING and inner != own.get(name, MISSING):
            return MISSING
    return {name: one for name, one in told.items() if one is not MISSING}


def _secrets(shape: Shape, value: Any) -> list[str]:
    if shape.secret:
        return _texts(value)
    found: list[str] = []
    if isinstance(value, Mapping):
        for name, member in value.items():
            inner = shape.properties.get(name)
            if inner is not None:
                found += _secrets(inner, member)
    return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for member in value.values() for text in _texts(member)]
    if isinstance(value, (list, tuple)):
        return [text for member in value for text in _texts(member)]
    return []
