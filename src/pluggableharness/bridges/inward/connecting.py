"""The connection to a server: how it is started or reached, and that its end is noticed."""

import asyncio
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final

import anyio
import httpx2
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from pluggableharness.bridges.inward.server_spec import ServerSpec
from pluggableharness.bridges.messages import message_of

LONGEST_LINE: Final = 32 * 1024 * 1024
"""Bytes of one message from a started server; asyncio holds at most twice as many."""

_LEAVING_S: Final = 2.0
"""What a server has to end by itself once its input is closed; then the guard ends it."""

Streams = tuple[Any, Any]
"""Where messages come from, and where they go."""

Ended = Callable[[str], None]
"""Takes why a server that was started is of no more use."""


def transport(spec: ServerSpec, ended: Ended) -> AbstractAsyncContextManager[Streams]:
    """The streams of a server, started or reached as its configuration says."""
    return _reached(spec) if spec.address else _started(spec, ended)


@asynccontextmanager
async def _reached(spec: ServerSpec) -> AsyncIterator[Streams]:
    headers = {"Authorization": f"Bearer {spec.token}"} if spec.token else {}
    # A call may take long; how long is for the kernel's deadline to say.
    timeout = httpx2.Timeout(30, read=None)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as client,
        streamable_http_client(spec.address, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _started(spec: ServerSpec, ended: Ended) -> AsyncIterator[Streams]:
    """A process of our own, since the library's reads lines without an end.

    Its environment is the few variables that every program needs, and those that the
    configuration names.
    """
    given = {name: os.environ[name] for name in spec.environment if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *spec.command,
        stdin=PIPE,
        stdout=PIPE,
        env=get_default_environment() | given,
        limit=LONGEST_LINE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_hear, process.stdout, heard, ended)
        group.start_soon(_say, process.stdin, said, ended)
        try:
            yield messages, answers
        finally:
            group.cancel_scope.cancel()
            process.stdin.close()
            with anyio.CancelScope(shield=True), suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _LEAVING_S)


async def _hear(stdout: asyncio.StreamReader, heard: Any, ended: Ended) -> None:
    why = "the MCP server has ended by itself"
    async with heard:
        try:
            while line := await stdout.readline():
                await heard.send(message_of(line))
        except anyio.BrokenResourceError:
            return  # nobody listens any more
        except ValueError:
            why = f"the MCP server wrote a line of more than {LONGEST_LINE:,} bytes"
    ended(why)


async def _say(stdin: asyncio.StreamWriter, said: Any, ended: Ended) -> None:
    async with said:
        try:
            async for one in said:
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(f"{text}\n".encode())
                await stdin.drain()
        except ConnectionError:
            ended("the MCP server reads no more")
