"""Arguments made from a schema: the least that it allows, and such that it refuses. Pure."""

from collections.abc import Iterator
from typing import Final, assert_never

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.settings import Setting, SettingType
from pluggableharness.kernel.domain.values import Json, JsonObject

WORD: Final = "check"
"""Every free text. A file of this name is there, so that it may be a path as well."""

_UNKNOWN: Final = "no_such_property"


def valid(schema: Schema) -> JsonObject:
    """The least that an object's schema allows: its required properties alone."""
    return {name: _value(schema.properties[name]) for name in schema.required}


def invalid(schema: Schema) -> Iterator[tuple[str, JsonObject]]:
    """Arguments that break one rule each, and what that is; none for an open map."""
    if not schema.properties:
        return
    least = valid(schema)
    for name in schema.required:
        without = {key: value for key, value in least.items() if key != name}
        yield f"without the required {name}", without
    for name, inner in schema.properties.items():
        yield f"with {name} of another type", {**least, name: _wrong(inner)}
    yield "with a property that is not declared", {**least, _UNKNOWN: WORD}


def worst(schema: Schema) -> Iterator[tuple[str, JsonObject]]:
    """Arguments in which everything is wrong at once, so that nobody could act on them."""
    if schema.properties:
        wrong = {name: _wrong(inner) for name, inner in schema.properties.items()}
        yield "of other types, and one that is not declared", {**wrong, _UNKNOWN: WORD}


def configuration(settings: tuple[Setting, ...], secret: str) -> JsonObject:
    """A block with the required settings, and the secret in each text that is sensitive."""
    return {
        setting.name: _setting(setting, secret)
        for setting in settings
        if setting.required or (setting.sensitive and setting.type is SettingType.STRING)
    }


def wrong_setting(setting: Setting) -> Json:
    """A value that the setting does not take."""
    return WORD if setting.type in (SettingType.OBJECT, SettingType.MAP_STRING) else {_UNKNOWN: 1}


def _value(schema: Schema) -> Json:
    match schema.type:
        case SchemaType.STRING:
            return schema.enum_values[0] if schema.enum_values else WORD
        case SchemaType.NUMBER:
            return 1
        case SchemaType.BOOLEAN:
            return False
        case SchemaType.ARRAY:
            return [_value(schema.items)] if schema.items else []
        case SchemaType.OBJECT:
            return valid(schema)
        case _:
            assert_never(schema.type)


def _wrong(schema: Schema) -> Json:
    return WORD if schema.type is SchemaType.OBJECT else {_UNKNOWN: 1}


def _setting(setting: Setting, secret: str) -> Json:
    text = secret if setting.sensitive else WORD
    match setting.type:
        case SettingType.STRING:
            return setting.default if setting.default and not setting.sensitive else text
        case SettingType.NUMBER:
            return 1
        case SettingType.BOOL:
            return False
        case SettingType.LIST_STRING:
            return [text]
        case SettingType.LIST_NUMBER:
            return [1]
        case SettingType.MAP_STRING:
            return {WORD: text}
        case SettingType.OBJECT:
            return configuration(setting.settings, secret)
        case _:
            assert_never(setting.type)
