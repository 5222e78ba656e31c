"""The provider that a server becomes: connects, declares its tools, passes calls on."""

import asyncio
import logging
import os
import sys
from contextlib import AsyncExitStack
from typing import Any, Final, NoReturn

import httpx2
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Implementation, Tool, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pluggableharness.bridges.inward.connecting import transport
from pluggableharness.bridges.inward.schemas import Reduced, reduced, values_of
from pluggableharness.bridges.inward.server_spec import ServerSpec
from pluggableharness.bridges.inward.tools import (
    description_of,
    operation_name,
    payload_of,
    result_shape,
    traits_of,
)
from pluggableharness.sdk import Context, ExecutionFailed
from pluggableharness.sdk.operation import GivenOperation
from pluggableharness.sdk.redaction import Redactor
from pluggableharness.version import __version__

_PATIENCE_S: Final = 8.0
"""Less than the kernel's own, which could only say that the bridge did not answer (K15)."""
_MOST_PAGES: Final = 100
_MOST_TOOLS: Final = 1000


class Server:
    """The server of one bridge, while the bridge's process lives."""

    def __init__(self, spec: ServerSpec) -> None:
        self.spec = spec
        self.version = "0.0.0"
        self.changed: dict[str, str] = {}
        self._declared: dict[str, Tool] = {}
        self._client: Client | None = None
        self._noticed = False
        self._holding: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def operations(self) -> list[GivenOperation]:
        """Connect, and give the tools back as operations.

        Raises:
            ExecutionFailed: the server cannot be had, and why.
        """
        # The server's client may print a traceback for each line that is no message.
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                tools = await self._connected()
        except TimeoutError:
            raise ExecutionFailed(
                f"the MCP server did not say what it offers within {_PATIENCE_S:.0f} s. Start it "
                "by hand to see why; what it downloads at its start has to be there before"
            ) from None
        except (MCPError, httpx2.HTTPError) as error:
            raise ExecutionFailed(f"the MCP server does not list its tools: {error}") from error
        self._declared = {operation_name(tool.name): tool for tool in tools}
        return [self._operation(name, tool) for name, tool in self._declared.items()]

    async def _connected(self) -> list[Tool]:
        connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._holding = asyncio.ensure_future(self._hold(connected))
        await connected
        return await self._listed()

    async def _hold(self, connected: "asyncio.Future[None]") -> None:
        """Be connected for as long as the process lives: the connection belongs to one task."""
        try:
            async with AsyncExitStack() as stack:
                client = Client(
                    transport(self.spec, self._leave),
                    client_info=Implementation(name="pluggableharness", version=__version__),
                    message_handler=self._heard,
                    cache=None,
                )
                self._client = await stack.enter_async_context(client)
                if client.server_info is not None:
                    self.version = client.server_info.version or self.version
                connected.set_result(None)
                await self._watch(client)
        except Exception as error:
            if not connected.done():
                told = ExecutionFailed(f"the MCP server cannot be had: {_reason(error)}")
                connected.set_exception(told)
                return
            self._leave(f"its connection broke: {_reason(error)}")

    async def _watch(self, client: Client) -> None:
        """Look at the tools again when a server of the later protocol says that they changed."""
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            offered = client.server_capabilities.tools
            if offered is not None and offered.list_changed:
                async with client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        await self._look_again()
        await asyncio.Event().wait()

    async def _listed(self) -> list[Tool]:
        assert self._client is not None
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None or len(tools) > _MOST_TOOLS:
                break
        if len(tools) > _MOST_TOOLS or cursor is not None:
            raise ExecutionFailed(
                f"the MCP server lists more than {_MOST_TOOLS} tools, or without an end"
            )
        return tools

    def _operation(self, name: str, tool: Tool) -> GivenOperation:
        arguments = reduced(tool.input_schema)

        async def call(ctx: Context[None], /, **given: Any) -> dict[str, Any]:
            return await self._call(ctx, name, tool, arguments, given)

        traits = traits_of(tool, self.spec.overrides.get(name, {}))
        return GivenOperation(
            call, name, traits, description_of(tool), arguments.shape, result_shape(tool)
        )

    async def _call(
        self,
        ctx: Context[None],
        name: str,
        tool: Tool,
        arguments: Reduced,
        given: dict[str, Any],
    ) -> dict[str, Any]:
        assert self._client is not None
        if name in self.changed:
            raise ExecutionFailed(
                f"{self.spec.name} has {self.changed[name]} this tool since it was accepted. Start "
                "a new session to see it as it is now"
            )
        values = values_of(given, arguments.texts)

        async def told(progress: float, total: float | None, message: str | None) -> None:
            share = progress / total if total else None
            known = share if share is not None and 0 <= share <= 1 else None
            await ctx.progress(message or "", known)

        try:
            result: CallToolResult = await self._client.call_tool(
                tool.name, values, progress_callback=told
            )
        except asyncio.CancelledError:
            ctx.report = {"note": "the server was told to cancel; what it had done is not known"}
            raise
        except (MCPError, httpx2.HTTPError, RuntimeError, ValueError) as error:
            raise ExecutionFailed(f"{self.spec.name}: {_reason(error)}") from error
        return payload_of(name, result)

    async def _heard(self, message: Any) -> None:
        """Take a notification, or what came on the stream and is no message."""
        if isinstance(message, ToolListChangedNotification):
            # In a task of its own: nothing more is read while this is taken.
            self._looking = asyncio.ensure_future(self._look_again())
        elif isinstance(message, Exception) and not self._noticed:
            self._noticed = True
            print(f"{self.spec.name}: prints on stdout what is no message", file=sys.stderr)

    async def _look_again(self) -> None:
        """Note which tools are no longer what was declared: their calls are refused."""
        try:
            now = {operation_name(tool.name): tool for tool in await self._listed()}
        except (MCPError, httpx2.HTTPError, ExecutionFailed) as error:
            self._say(_reason(error))
            return
        self.changed = {
            name: "changed" if name in now else "withdrawn"
            for name, tool in self._declared.items()
            if now.get(name) != tool
        }

    def _leave(self, why: str) -> NoReturn:
        """End the bridge with its server: what runs has crashed, and the next call starts anew."""
        self._say(why)
        os._exit(1)

    def _say(self, what: str) -> None:
        """Write a line of stderr, without the token, which a server may repeat (P31)."""
        clean = Redactor((self.spec.token,)).text(what)
        print(f"{self.spec.name}: {clean}", file=sys.stderr, flush=True)


def _reason(error: BaseException) -> str:
    """What went wrong, out of the groups that task groups put around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
