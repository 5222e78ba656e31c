"""Whether a provider's configuration is what it declares, before it is sent (P28).

Pure. Problems name the setting by its path and never show a sensitive value (P31).
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from pluggableharness.kernel.domain.settings import Setting, SettingType
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.schema.nearest import did_you_mean


class SettingProblem(NamedTuple):
    """What is wrong with a setting, which `path` names with dots."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


_EXPECTED = {
    SettingType.STRING: "a string",
    SettingType.NUMBER: "a number",
    SettingType.BOOL: "true or false",
    SettingType.LIST_STRING: "a list of strings",
    SettingType.LIST_NUMBER: "a list of numbers",
    SettingType.MAP_STRING: "a map of strings",
    SettingType.OBJECT: "an object",
}


def with_defaults(settings: Sequence[Setting], config: JsonObject) -> JsonObject:
    """Return the configuration with declared defaults for what is missing, at every level.

    The host fills them in so that every provider gets them, whatever its SDK does.
    """
    filled = dict(config)
    for setting in settings:
        if setting.default is not None:
            filled.setdefault(setting.name, setting.default)
        inner = filled.get(setting.name)
        if setting.settings and isinstance(inner, Mapping):
            filled[setting.name] = with_defaults(setting.settings, inner)
    return filled


def setting_problems(
    settings: Sequence[Setting], config: JsonObject, path: str = ""
) -> Iterator[SettingProblem]:
    """Yield one problem for each setting that is missing, unknown or of the wrong type."""
    declared = {setting.name: setting for setting in settings}
    for name in config:
        if name not in declared:
            hint = did_you_mean(name, declared)
            yield SettingProblem(f"{path}{name}", f"there is no such setting{hint}")
    for setting in settings:
        where = f"{path}{setting.name}"
        value = config.get(setting.name)
        if value is not None:
            yield from _value_problems(setting, value, where)
        elif setting.required:
            expected = f"{_EXPECTED[setting.type]}{_purpose(setting)}"
            yield SettingProblem(where, f"missing; it is {expected}")


def secrets(settings: Sequence[Setting], config: JsonObject) -> tuple[str, ...]:
    """Return every text of a sensitive setting, so that it can be kept out of messages."""
    return tuple(
        text for setting in settings for text in _setting_secrets(setting, config.get(setting.name))
    )


def _value_problems(setting: Setting, value: Json, where: str) -> Iterator[SettingProblem]:
    if not _fits(setting.type, value):
        yield SettingProblem(where, f"expected {_EXPECTED[setting.type]}, got {kind_of(value)}")
    elif setting.settings and isinstance(value, Mapping):
        yield from setting_problems(setting.settings, value, f"{where}.")


def _fits(kind: SettingType, value: Json) -> bool:
    match kind:
        case SettingType.STRING:
            return isinstance(value, str)
        case SettingType.NUMBER:
            return _is_number(value)
        case SettingType.BOOL:
            return isinstance(value, bool)
        case SettingType.LIST_STRING:
            return _is_list(value) and all(isinstance(item, str) for item in _items(value))
        case SettingType.LIST_NUMBER:
            return _is_list(value) and all(_is_number(item) for item in _items(value))
        case SettingType.MAP_STRING:
            return isinstance(value, Mapping) and all(
                isinstance(item, str) for item in value.values()
            )
        case SettingType.OBJECT:
            return isinstance(value, Mapping)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_list(value: Json) -> bool:
    return isinstance(value, list | tuple)


def _items(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()


def kind_of(value: Json) -> str:
    """What a value is, never what it says: it may be a secret in the wrong place."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case Mapping():
            return "an object"
        case _:
            return "a list"


def _purpose(setting: Setting) -> str:
    return f": {setting.description}" if setting.description else ""


def _setting_secrets(setting: Setting, value: Json) -> Iterator[str]:
    if setting.sensitive:
        yield from _texts(value)
    elif setting.settings and isinstance(value, Mapping):
        yield from secrets(setting.settings, value)


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
