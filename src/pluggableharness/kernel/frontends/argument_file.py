"""A call's arguments as a file that a person edits, and back: TOML. Pure.

A text of many lines stands there as it is, without escapes or margins, its last line end is seen,
and what is wrong is told with its line. Knows no editor and no schema.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.json_values import is_deep, jsonable
from pluggableharness.kernel.frontends.text import escaped, on_a_line

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDE = 80
_HEADER = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)*")


def as_file(arguments: JsonObject) -> str:
    """The arguments as such a file. Raises ValueError for those that TOML cannot hold."""
    values = jsonable(arguments)
    assert isinstance(values, dict)
    text = "".join(f"{_name(name)} = {_value(value)}\n" for name, value in values.items())
    if not same(from_file(text), values):
        raise ValueError("TOML cannot hold these arguments")
    return text


def from_file(text: str) -> JsonObject:
    """The arguments that a file gives. Raises ValueError that says where it is wrong, and how."""
    try:
        values = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if is_deep(values):
        raise ValueError("it is nested too deeply")
    for name, value in values.items():
        _check(name, value)
    return values


def same(one: JsonObject, other: JsonObject) -> bool:
    """Whether two sets of arguments are the same; in Python alone 1 and true would be."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def headed(text: str, *lines: str) -> str:
    """The file below comments, in the place of those that it began with."""
    head = "".join(f"# {on_a_line(line)}".rstrip() + "\n" for line in lines)
    return f"{head}\n{_HEADER.sub('', text)}"


def _check(name: str, value: object) -> None:
    """Refuse what TOML has and JSON has not: dates, and numbers that are none."""
    match value:
        case dict():
            for inner in value.values():
                _check(name, inner)
        case list():
            for inner in value:
                _check(name, inner)
        case str() | bool() | int():
            pass
        case float() if jsonable(value) is not None:
            pass
        case _:
            raise ValueError(f"{name}: {value} is no value of JSON; a text stands in quotes")


def _name(name: str) -> str:
    return name if _BARE.fullmatch(name) else _in_quotes(name)


def _value(value: Json) -> str:
    match value:
        case str():
            return _text(value)
        case bool() | int() | float():
            return json.dumps(value)
        case Mapping():
            inner = ", ".join(f"{_name(name)} = {_value(one)}" for name, one in value.items())
            return f"{{ {inner} }}"
        case Sequence():
            items = [_value(one) for one in value]
            if sum(map(len, items)) <= _WIDE:
                return f"[{', '.join(items)}]"
            return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
        case None:
            raise ValueError("TOML has no null")


def _text(text: str) -> str:
    """A text in those quotes that leave most of it as it is."""
    prints = escaped(text.replace("\n", " ").replace("\t", " ")) is None
    if prints and not re.search(r'["\\\n]', text):
        return f'"{text}"'
    if prints and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''" if "\n" in text else f"'''{text}'''"
    if "\n" not in text:
        return _in_quotes(text)
    inner = _printing(text).replace('"""', '""\\"')
    return '"""\n' + re.sub(r'"\Z', '\\\\"', inner) + '"""'


def _in_quotes(text: str) -> str:
    return '"' + _printing(text).replace('"', '\\"').replace("\n", "\\n") + '"'


def _printing(text: str) -> str:
    """The text with escapes for backslashes and for what would not be seen in an editor."""
    return "".join(
        character if character in "\n\t" or escaped(character) is None else _escape(character)
        for character in text.replace("\\", "\\\\")
    )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
