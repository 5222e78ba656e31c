"""What keeps two calls apart, computed from their arguments (P21).

Keys are the literal values of the key fields. That two spellings name one file is for the
provider to know (C5): the kernel has no file system to ask.
"""

from collections.abc import Hashable, Mapping
from enum import Enum

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.scheduling.locks import LockRequest

_NOBODY: frozenset[str] = frozenset()


class _Mark(Enum):
    """Stand-ins: Python holds True and 1 for equal, and None is a value, unlike no value."""

    TRUE = True
    FALSE = False
    MISSING = None


def call_key(call: Call) -> Hashable | None:
    """The serialisation key: provider, operation and the values of its key fields.

    Equal exactly when the values are equal as JSON. None when the operation declares no
    keys, or is not safe and therefore needs none.
    """
    operation = call.operation
    concurrency = operation.concurrency
    if concurrency is None or not concurrency.safe or not concurrency.key_fields:
        return None
    return (operation.provider, operation.name, _values(call, concurrency.key_fields))


def subject(call: Call) -> Hashable | None:
    """What a call works on as far as its keys tell: `call_key` without the operation.

    write_file and edit_file of one path have different keys, and so no order between them;
    within one message they must keep the model's (K13a).
    """
    operation = call.operation
    concurrency = operation.concurrency
    if concurrency is None or not concurrency.safe or not concurrency.key_fields:
        return None
    fields = tuple(sorted(concurrency.key_fields))
    return (operation.provider, fields, _values(call, fields))


def lock_request(call: Call, ancestors: frozenset[str] = _NOBODY) -> LockRequest:
    """What the call asks of its provider process (P19-P21); `ancestors` as in LockRequest."""
    return LockRequest(call.id, not call.operation.safe, call_key(call), ancestors)


def _values(call: Call, fields: tuple[str, ...]) -> tuple[Hashable, ...]:
    arguments = call.arguments
    return tuple(
        [_canonical(arguments[name]) if name in arguments else _Mark.MISSING for name in fields]
    )


def _canonical(value: Json) -> Hashable:
    """A hashable that equals another exactly when the JSON values are equal.

    Objects become frozensets of pairs and arrays tuples, two types that never compare equal;
    numbers stay themselves, since Python compares 1 and 1.0 as JSON does.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return _Mark.TRUE if value else _Mark.FALSE
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return frozenset([(name, _canonical(item)) for name, item in value.items()])
    return tuple([_canonical(item) for item in value])
