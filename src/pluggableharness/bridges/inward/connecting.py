"""The connection to a server: how it is started or reached, and that its end is noticed."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from pluggableharness.bridges.inward.server_spec import ServerSpec

Streams = tuple[Any, Any]
"""Where messages come from, and where they go."""


def transport(spec: ServerSpec, ended: Callable[[], None]) -> AbstractAsyncContextManager[Streams]:
    """The streams of a server; `ended` is called when a process that was started goes.

    Its environment is the few variables that every program needs, and those that the
    configuration names.
    """
    if spec.address:
        return _reached(spec)
    program, *arguments = spec.command
    parameters = StdioServerParameters(
        command=program,
        args=arguments,
        env={name: os.environ[name] for name in spec.environment if name in os.environ},
        encoding_error_handler="replace",
    )
    return _watched(stdio_client(parameters, errlog=sys.stderr), ended)


@asynccontextmanager
async def _reached(spec: ServerSpec) -> AsyncIterator[Streams]:
    token = os.environ.get(spec.token_variable, "") if spec.token_variable else ""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # A call may take long; how long is for the kernel's deadline to say.
    timeout = httpx2.Timeout(30, read=None)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as client,
        streamable_http_client(spec.address, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _watched(
    inner: AbstractAsyncContextManager[Streams], ended: Callable[[], None]
) -> AsyncIterator[Streams]:
    """The same streams, whose end is told."""
    passed_on, read = anyio.create_memory_object_stream[Any](0)

    async def relay(messages: Any) -> None:
        async with passed_on:
            async for message in messages:
                await passed_on.send(message)
        ended()

    async with inner as (messages, write), anyio.create_task_group() as group:
        group.start_soon(relay, messages)
        yield read, write
        group.cancel_scope.cancel()
