"""What a person's keystrokes mean. Pure: reads nothing and shows nothing."""

import json
import re
from enum import Enum
from string import ascii_lowercase

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.json_values import is_deep

_ALLOW = ("a", "y", "allow", "yes")
_DENY = ("d", "n", "deny", "no")
_HELP = ("?", "h", "help")
_SHOW = ("v", "view")
_SESSION = ("s", "session")
_ALWAYS = ("k", "keep", "always")
_EDIT = ("e", "edit")
_EMPTY = ("", "\r", "\n", "\r\n", "\x04")


class Reply(Enum):
    """What may be meant by an answer to a plan item."""

    ALLOW = "allow"
    DENY = "deny"
    HELP = "help"
    SHOW = "show"
    SESSION = "session"
    ALWAYS = "always"
    EDIT = "edit"
    UNCLEAR = "unclear"


def understood(typed: str | None) -> tuple[Reply, str]:
    """What was meant, and the reason that came with a denial.

    Nothing, the end of the input and an empty line are a no. Only a whole word counts: a text
    that was pasted by accident and starts with a `y` is not a yes.
    """
    if typed is None or typed in _EMPTY:
        return Reply.DENY, ""
    word, _, rest = typed.strip().partition(" ")
    word, rest = word.lower(), rest.strip()
    if word in _DENY and "\n" not in rest:
        return Reply.DENY, rest
    if rest:
        return Reply.UNCLEAR, ""
    for words, reply in _MEANT:
        if word in words:
            return reply, ""
    return Reply.UNCLEAR, ""


_MEANT = (
    (_ALLOW, Reply.ALLOW),
    (_SESSION, Reply.SESSION),
    (_ALWAYS, Reply.ALWAYS),
    (_EDIT, Reply.EDIT),
    (_HELP, Reply.HELP),
    (_SHOW, Reply.SHOW),
)


def clear_yes(typed: str | None) -> bool:
    """Whether a plain question was answered by yes, and nothing beside it."""
    return typed is not None and typed.strip().lower() in _ALLOW


def reassigned(typed: str, arguments: JsonObject, schema: Schema) -> JsonObject:
    """Arguments after an edit on one line: all of them as a JSON object, or one as NAME=VALUE.

    The name is any that the operation takes, its value text as it stands or, where the schema
    has another type, JSON. Raises ValueError that says what is expected.
    """
    if typed.startswith("{"):
        whole = _json(typed)
        if not isinstance(whole, dict):
            raise ValueError("all arguments are one JSON object")
        return whole
    name, equals, value = typed.partition("=")
    wanted = schema.properties.get(name.strip())
    if not equals or wanted is None:
        known = ", ".join(schema.properties)
        raise ValueError(f"NAME=VALUE, or all arguments as a JSON object; names: {known}")
    text = wanted.type is SchemaType.STRING
    return {**arguments, name.strip(): value if text else _json(value)}


def _json(text: str) -> Json:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        value: Json = json.loads(text, parse_constant=refuse)
    except RecursionError as failure:
        raise ValueError("this JSON is nested too deeply") from failure
    except json.JSONDecodeError as failure:
        raise ValueError(f"not JSON: {failure.msg} at character {failure.pos + 1}") from failure
    if is_deep(value):
        raise ValueError("this JSON is nested too deeply")
    return value


def chosen(
    typed: str, options: list[str], *, several: bool, letters: bool = False
) -> list[str] | None:
    """The options that were meant, by number from 1 or by their text; None when unclear.

    With `letters` also by letter from `a`, where that is the text of none. Several are parted
    by commas or spaces.
    """
    if typed.strip() in options:
        return [typed.strip()]
    picks = re.split(r"[\s,]+", typed.strip().strip(","))
    numbers = [_number(pick, letters=letters) for pick in picks]
    if len(numbers) > 1 and not several:
        return None
    if not all(1 <= number <= len(options) for number in numbers):
        return None
    return [options[number - 1] for number in dict.fromkeys(numbers)]


def _number(pick: str, *, letters: bool) -> int:
    """The number that a pick stands for; 0 for none."""
    if pick.isascii() and pick.isdigit():
        return int(pick[:9])
    if letters and len(pick) == 1 and pick.lower() in ascii_lowercase:
        return ascii_lowercase.index(pick.lower()) + 1
    return 0
