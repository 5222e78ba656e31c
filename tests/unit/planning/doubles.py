"""Operations and calls for the tests of pure code."""

import itertools
from typing import Any

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import (
    Concurrency,
    Kind,
    Operation,
    Risk,
    Schema,
    SchemaType,
)

OPEN = Schema(SchemaType.OBJECT)
CONTEXT = CallContext("session", "turn", "/work/project")
_NUMBERS = itertools.count(1)


def operation(
    name: str,
    kind: Kind = Kind.RESOURCE,
    *,
    provider: str = "filesystem",
    risk: Risk | None = None,
    safe: bool = False,
    keys: tuple[str, ...] = (),
    takes: Schema = OPEN,
    **more: Any,
) -> Operation:
    default = Risk.MODERATE if kind is Kind.RESOURCE else Risk.READ_ONLY
    concurrency = Concurrency(safe, keys)
    return Operation(
        provider, name, kind, risk or default, "d", takes, OPEN, concurrency=concurrency, **more
    )


def call(of: Operation, **arguments: Any) -> Call:
    return Call(f"call-{next(_NUMBERS)}", of, arguments, CONTEXT)
