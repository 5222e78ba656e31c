"""Clients of `harness mcp`: the mcp package's own, and what they were asked and told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from process.harness import HARNESS, Harness

import pluggableharness as ph

WAIT = 120.0
"""Seconds, which only a hang takes: a connection starts eight processes."""
MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
WRITE = ("filesystem__write_file", {"path": "a.txt", "content": "hello\n"})

Decide = Callable[[str], types.ElicitResult]


def accepts(decision: str, reason: str = "") -> Decide:
    content: dict[str, Any] = {"decision": decision, "reason": reason}
    return lambda message: types.ElicitResult(action="accept", content=content)


@dataclass
class Connected:
    """A client, with what it was asked and told."""

    client: Client
    asked: list[types.ElicitRequestFormParams] = field(default_factory=list)
    logged: list[types.LoggingMessageNotificationParams] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        return await self.client.call_tool(name, arguments)


@asynccontextmanager
async def connected(
    harness: Harness, mode: Any, decide: Decide | None = None, *words: str
) -> AsyncIterator[Connected]:
    """A client of a served project; without `decide` it has no elicitation."""

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        there.asked.append(params)
        assert decide is not None
        return decide(params.message)

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        there.logged.append(params)
        there.heard.set()

    server = StdioServerParameters(
        command=HARNESS[0],
        args=[*HARNESS[1:], "mcp", "--cwd", str(harness.project), *words],
        env=harness.environment,
    )
    client = Client(
        server,
        mode=mode,
        elicitation_callback=elicit if decide is not None else None,
        logging_callback=log,
        log_level="info",
    )
    there = Connected(client)
    async with asyncio.timeout(WAIT), client:
        yield there


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def category(result: types.CallToolResult) -> Any:
    assert result.is_error
    assert result.meta is not None
    return result.meta["pluggableharness/error"]["category"]


def record(harness: Harness, status: str = "completed") -> ph.Record:
    """The one record of a connection that has ended."""
    (log,) = harness.logs()
    read = ph.record(log)
    assert read.verify().ok
    assert read.meta()["status"] == status
    return read
