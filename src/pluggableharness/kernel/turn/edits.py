"""What a person changed of a call's arguments, in words for the model and the record (K10)."""

import json
from collections.abc import Iterator
from typing import Final

from pluggableharness.kernel.domain.quoting import bounded
from pluggableharness.kernel.domain.values import Json, JsonObject

_MOST_BEFORE: Final = 200
"""Characters of an old value: the model wrote it and has it."""

_MOST_AFTER: Final = 10_000
"""Characters of a new value, which the model knows from here alone."""


def told_edit(written: JsonObject, ran: JsonObject) -> str:
    """How the arguments that a person settled on differ from the model's; "" when they do not."""
    changes = "; ".join(_changes(written, ran))
    if not changes:
        return ""
    return (
        f"A person changed the arguments of this call: {changes}. "
        "This is what came of the call as it was changed."
    )


def _changes(written: JsonObject, ran: JsonObject) -> Iterator[str]:
    for name in dict.fromkeys([*written, *ran]):
        if name not in ran:
            yield f"{name} is no longer given (was {_before(written[name])})"
        elif name not in written:
            yield f"{name} is now {_after(ran[name])} (was not given)"
        elif as_text(written[name]) != as_text(ran[name]):
            yield f"{name} is now {_after(ran[name])} (was {_before(written[name])})"


def _before(value: Json) -> str:
    return bounded(as_text(value), _MOST_BEFORE)


def _after(value: Json) -> str:
    return bounded(as_text(value), _MOST_AFTER)


def as_text(value: Json) -> str:
    """A value as text; values of one text are the same, though to Python 1 and true are equal."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def from_text(text: str) -> JsonObject:
    """The object that `as_text` was given, as a new one."""
    value: JsonObject = json.loads(text)
    return value
