"""Calls and outcomes in few words, without any drawing."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.json_values import compact, jsonable
from pluggableharness.kernel.frontends.text import escaped, shown

_SHORT = 40


def brief(call: Call, ellipsis: str, encoding: str = "utf-8") -> str:
    """A call's arguments on one line, to recognise it by; what is approved is never so short.

    The first required argument stands by its value alone, of several lines the first; the
    others by name, unless they are long.
    """
    first = next(iter(call.operation.input_schema.required), "")
    parts = [_opening(call.arguments[first], ellipsis, encoding)] if first in call.arguments else []
    written = {
        name: f"{shown(name, encoding)}={value_line(value, encoding)}"
        for name, value in call.arguments.items()
        if name != first
    }
    parts += [text for text in written.values() if len(text) <= _SHORT]
    if any(len(text) > _SHORT for text in written.values()):
        parts.append(ellipsis)
    return " ".join(parts)


def _opening(value: Json, ellipsis: str, encoding: str) -> str:
    if isinstance(value, str) and "\n" in value.strip():
        return f"{shown(value.strip().partition(chr(10))[0], encoding)} {ellipsis}"
    return value_line(value, encoding)


def value_line(value: Json, encoding: str = "utf-8") -> str:
    """An argument's value on one line, exact."""
    return shown(value, encoding) if isinstance(value, str) else compact(value, encoding)


def cut(text: str, width: int, ellipsis: str) -> str:
    """The text's beginning when it is longer than `width` characters, and a sign of the cut."""
    if len(text) <= width:
        return text
    return text[: max(width - len(ellipsis), 0)] + ellipsis


def duration(seconds: float) -> str:
    """A length of time as people say it: `12 ms`, `1.4 s`, `2 min 5 s`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(number: int, noun: str) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _count(say: Callable[[int], str]) -> Callable[[object], str]:
    def words(value: object) -> str:
        return say(value) if isinstance(value, int) and not isinstance(value, bool) else ""

    return words


def _word(say: Callable[[str], str]) -> Callable[[object], str]:
    def words(value: object) -> str:
        fits = isinstance(value, str) and 0 < len(value) <= 20 and escaped(value) is None
        return say(str(value)) if fits else ""

    return words


# What payloads commonly report, in the words to say it with. A field that an operation does
# not have, or has with another type, is left out.
_FACTS: Mapping[str, Callable[[object], str]] = {
    "exit_code": _count(lambda code: f"exit {code}"),
    "signal": _word(lambda name: f"by {name}"),
    "status": _count(lambda status: f"status {status}"),
    "total_lines": _count(lambda number: counted(number, "line")),
    "total": _count(lambda number: f"{number:,} found"),
    "replacements": _count(lambda number: counted(number, "replacement")),
    "bytes_written": _count(lambda number: counted(number, "byte")),
    "truncated": lambda value: "cut short" if value is True else "",
}


def glimpse(payload: JsonObject, width: int, ellipsis: str, encoding: str = "utf-8") -> str:
    """The beginning of a result that says nothing about itself, as JSON within `width` characters;
    "" for an empty one."""
    return cut(compact(_beginning(payload, width), encoding), width, ellipsis) if payload else ""


def _beginning(value: Json, most: int) -> Json:
    """As much of a value as can show within `most` characters: payloads may be very large."""
    if isinstance(value, str):
        return value[: most + 1]
    if isinstance(value, Mapping):
        return {name: _beginning(one, most) for name, one in islice(value.items(), most)}
    if isinstance(value, Sequence):
        return [_beginning(one, most) for one in islice(value, most)]
    return value


def facts(payload: JsonObject) -> list[str]:
    """What a result says about itself, a few words each."""
    said = (say(jsonable(payload[name])) for name, say in _FACTS.items() if name in payload)
    return [words for words in said if words]
