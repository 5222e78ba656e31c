#!/usr/bin/env python3
"""One operation: `harness call hello.greet name=Ada --provider ./hello_provider.py`."""

from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, Ge, InvalidArguments, Provider

provider = Provider("hello", version="1.0.0")


@dataclass(frozen=True, slots=True)
class Greeting:
    text: Annotated[str, Doc("The greeting")]


@provider.data_source(idempotent=True)
async def greet(
    ctx: Context[None],
    name: Annotated[str, Doc("Whom to greet")],
    times: Annotated[int, Ge(1), Doc("How often to say it")] = 1,
) -> Greeting:
    """Greet someone by name."""
    if not name.strip():
        raise InvalidArguments("name is blank; say whom to greet")
    return Greeting(" ".join([f"Hello, {name}!"] * times))


if __name__ == "__main__":
    provider.serve()
