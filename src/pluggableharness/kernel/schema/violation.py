"""How a value that does not fit is described: where, what was expected, what came."""

from dataclasses import dataclass

SHOWN = 60
"""Characters of a value or name that a message repeats at most."""

Path = tuple["Path", str | int] | None
"""Where a value lies, innermost step last; None is the root. Rendered only on failure."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong with a value (P8).

    `path` is like `items[2].name` and empty for the root; `expected` and `got` are phrases
    that fit "expected ..., got ...", short whatever the value's size.
    """

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        """The violation as one line."""
        return f"{self.path or 'at the root'}: expected {self.expected}, got {self.got}"


def path_text(path: Path) -> str:
    """The path as people write it: `items[2].name`, `["odd key"]`."""
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return "".join(_step_text(step) for step in reversed(steps)).removeprefix(".")


def label(name: object) -> str:
    """A property's name as text; JSON has no other names, Python values may."""
    return name if isinstance(name, str) else shown(name)


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.isidentifier() and len(step) <= SHOWN:
        return f".{step}"
    return f"[{quoted(step)}]"


def quoted(text: str) -> str:
    """The text in quotes, cut, with every character that does not print made visible."""
    body = "".join(map(_visible, text[:SHOWN]))
    return f'"{body}"' if len(text) <= SHOWN else f'"{body}…" ({len(text)} characters)'


def _visible(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}"


def shown(value: object) -> str:
    """What a value is, in words short enough for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {quoted(value)}"
        case int():
            return f"the number {_integer(value)}"
        case float():
            return f"the number {_float(value)}"
        case dict():
            return f"an object with {_names(value)}" if value else "an empty object"
        case list() | tuple():
            return f"an array of {len(value)}"
        case _:
            return f"a value of type {type(value).__name__[:SHOWN]}, which is not JSON"


def _integer(value: int) -> str:
    """Python refuses to print integers of more than 4,300 digits: tell their size instead."""
    if value.bit_length() <= 3 * SHOWN:
        return str(value)
    return f"with about {value.bit_length() * 30103 // 100000 + 1} digits"


def _float(value: float) -> str:
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))


def _names(value: dict[object, object]) -> str:
    first = [quoted(label(name)) for _, name in zip(range(3), value, strict=False)]
    more = len(value) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")
