"""Calling bash in a test, without a process of the provider's own."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pluggableharness.sdk import Category, Context
from pluggableharness.sdk.stream import EventStream
from pluggableharness.sdk.testing import Outcome, Tool

WAIT_S = 30.0
"""Bound of a call that should take a second or so; reached by a hang only."""


async def run(tool: Tool, command: str, within_s: float = WAIT_S, **arguments: Any) -> Outcome:
    async with asyncio.timeout(within_s):
        return await tool("bash", command=command, **arguments)


async def payload(tool: Tool, command: str, **arguments: Any) -> dict[str, Any]:
    return (await run(tool, command, **arguments)).payload


def details(outcome: Outcome, category: Category) -> Mapping[str, Any]:
    assert outcome.error and outcome.error.category is category
    assert outcome.error.details is not None
    return outcome.error.details


def python(program: str) -> str:
    return f"{sys.executable} -c '{program}'"


def context_of(tool: Tool) -> Context[Any]:
    """A context for a function that is called without what the SDK does around it."""

    async def nowhere(event: object) -> None:
        pass

    call = tool._call("bash", None, {})
    return tool._runner._context(call, EventStream("bash", True, nowhere))


def let_go(fifo: Path) -> None:
    """Let a command go on that reads from a FIFO."""
    fifo.write_text("\n")
