"""The functions that expressions may call beside `env` (F7): texts and lists, nothing else.

Each takes and gives values of its annotated types; which of them were given is checked before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.schema.settings import kind_of

_LONGEST = 1 << 20
"""Characters that a function may make: a configuration needs far fewer."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function, the kinds of its arguments in order, and the kind of any further ones."""

    call: Callable[..., Json]
    takes: tuple[str, ...]
    more: str | None = None

    @property
    def shown(self) -> str:
        """Its arguments as they are written."""
        return ", ".join(self.takes + ((f"{self.more}...",) if self.more else ()))


def _substr(text: str, start: int, length: int) -> str:
    begin = start if start >= 0 else max(0, len(text) + start)
    return text[begin:] if length < 0 else text[begin : begin + length]


def _format(pattern: str, *values: Json) -> str:
    """`%s`, `%d` and `%%`, each value where its mark stands."""
    pieces = pattern.split("%%")
    left = list(values)
    for place, piece in enumerate(pieces):
        head, *marks = piece.split("%")
        made = [head]
        for mark in marks:
            if mark[:1] not in ("s", "d", "v") or not left:
                raise ValueError("its text has marks %s and %d, one for each further value")
            made.append(text_of(left.pop(0)) + mark[1:])
        pieces[place] = "".join(made)
    if left:
        raise ValueError("there are more values than marks")
    return "%".join(pieces)


def text_of(value: Json) -> str:
    """A scalar as it stands in a text. Raises ValueError for null, lists and objects."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() else repr(value)
        case _:
            raise ValueError(f"{kind_of(value)} has no place in a text")


def _split(separator: str, text: str) -> list[str]:
    return text.split(separator) if separator else list(text)


def _join(separator: str, *lists: Sequence[Json]) -> str:
    return separator.join(text_of(one) for items in lists for one in items)


def _concat(*lists: Sequence[Json]) -> list[Json]:
    return [one for items in lists for one in items]


def _replace(text: str, old: str, new: str) -> str:
    grown = len(text) + text.count(old) * len(new)
    if grown > _LONGEST:
        raise ValueError("what it would make is too long")
    return text.replace(old, new)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "chomp": Function(lambda text: text.rstrip("\r\n"), ("string",)),
    "concat": Function(_concat, ("list",), more="list"),
    "contains": Function(lambda items, one: one in items, ("list", "any")),
    "endswith": Function(str.endswith, ("string", "string")),
    "format": Function(_format, ("string",), more="any"),
    "join": Function(_join, ("string", "list"), more="list"),
    "length": Function(len, ("sized",)),
    "lower": Function(str.lower, ("string",)),
    "replace": Function(_replace, ("string", "string", "string")),
    "split": Function(_split, ("string", "string")),
    "startswith": Function(str.startswith, ("string", "string")),
    "strcontains": Function(str.__contains__, ("string", "string")),
    "substr": Function(_substr, ("string", "integer", "integer")),
    "title": Function(str.title, ("string",)),
    "trim": Function(str.strip, ("string", "string")),
    "trimprefix": Function(str.removeprefix, ("string", "string")),
    "trimspace": Function(str.strip, ("string",)),
    "trimsuffix": Function(str.removesuffix, ("string", "string")),
    "upper": Function(str.upper, ("string",)),
}
"""By name; `docs/reference/agent-hcl.md` lists them."""


def fits(kind: str, value: Json) -> bool:
    """Whether a value is of a kind that a function takes."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "list":
            return isinstance(value, list)
        case "sized":
            return isinstance(value, str | list | dict)
        case _:
            return True
