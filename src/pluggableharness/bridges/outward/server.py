"""The MCP server over standard input and output (K35)."""

import asyncio
import warnings
from contextlib import AsyncExitStack
from typing import Final

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    SetLevelRequestParams,
)

from pluggableharness.bridges.outward.exchange import Context, Exchange
from pluggableharness.bridges.outward.frontend import Connection
from pluggableharness.bridges.outward.shapes import as_result, as_tool
from pluggableharness.bridges.outward.standard_streams import client_streams
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.kernel import Kernel
from pluggableharness.kernel.session.outside import OutsideCalls
from pluggableharness.version import __version__

_INSTRUCTIONS: Final = (
    "Tools that act on one project, through a gate: what changes something runs when the rules of "
    "the project's agent.hcl allow it or its person says yes, and a denial says why. Paths are "
    "relative to the project's directory. Calls made at the same time run in any order: wait for "
    "one that changes something before the next."
)
_UNASKED: Final = (
    "This client has no elicitation to ask its person with, and agent.hcl is read when this server "
    "starts."
)
_MOST_SUSPENDED: Final = 64
"""Calls whose questions a client has been given and has not come back to; the oldest goes."""


async def serve(kernel: Kernel) -> None:
    """Serve one client until it leaves; its calls are one session, which ends with it.

    Raises HarnessError when the session cannot be had.
    """
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)
    async with AsyncExitStack() as closing:
        serving = _Serving(kernel, closing)
        server = serving.server()
        async with client_streams() as (read, write):
            await server.run(read, write, server.create_initialization_options())


class _Serving:
    """The handlers of one connection."""

    def __init__(self, kernel: Kernel, closing: AsyncExitStack) -> None:
        self._kernel = kernel
        self._closing = closing
        self._connection = Connection()
        self._suspended: dict[str, Exchange] = {}
        self._opened: asyncio.Task[OutsideCalls] | None = None

    def server(self) -> "Server[dict[str, object]]":
        """The protocol's side, with these handlers."""
        return Server(
            "pluggableharness",
            version=__version__,
            title="pluggableharness",
            instructions=_INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_set_logging_level=_all_the_same,
        )

    async def list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Everything that may be called, on one page."""
        calls = await self._calls(context)
        return ListToolsResult(tools=[as_tool(one) for one in calls.operations])

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Begin a call, or go on with one whose question the client has answered."""
        calls = await self._calls(context)
        exchange = self._exchange(context, params, calls)
        self._connection.exchanges[exchange.id] = exchange
        try:
            answer = await exchange.next()
        except asyncio.CancelledError:
            exchange.cancel()
            raise
        except HarnessError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        finally:
            del self._connection.exchanges[exchange.id]
        if isinstance(answer, InputRequiredResult):
            self._suspend(exchange)
            return answer
        return as_result(answer, _UNASKED if exchange.unasked else "")

    def _exchange(
        self, context: Context, params: CallToolRequestParams, calls: OutsideCalls
    ) -> Exchange:
        exchange = self._suspended.pop(params.request_state or "", None)
        if exchange is not None:
            exchange.answered(context, params)
            return exchange
        exchange = Exchange(context, params)
        name = _full_name(calls, params.name)
        arguments = params.arguments or {}
        exchange.start(lambda use: calls.call(name, arguments, use))
        return exchange

    def _suspend(self, exchange: Exchange) -> None:
        """Keep a call until the client comes back to it, among a bounded number."""
        self._suspended[exchange.id] = exchange
        if len(self._suspended) > _MOST_SUSPENDED:
            self._suspended.pop(next(iter(self._suspended))).cancel()

    async def _calls(self, context: Context) -> OutsideCalls:
        """The session, begun with the first request that needs it.

        In a task of its own: a client that cancels that request does not undo it for the others.
        """
        if self._opened is None or (self._opened.done() and self._opened.exception()):
            self._opened = asyncio.ensure_future(self._open(_caller(context)))
        try:
            return await asyncio.shield(self._opened)
        except HarnessError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error

    async def _open(self, caller: str) -> OutsideCalls:
        calls = self._kernel.calls(caller, self._connection)
        return await self._closing.enter_async_context(calls)


def _caller(context: Context) -> str:
    """Who calls, as the record names it."""
    params = context.session.client_params
    return f"mcp: {params.client_info.name}" if params is not None else "mcp"


def _full_name(calls: OutsideCalls, name: str) -> str:
    """The operation that a tool stands for; what stands for none is told so by the kernel."""
    found = (one.full_name for one in calls.operations if vendor_name(one) == name)
    return next(found, name)


async def _all_the_same(context: Context, params: SetLevelRequestParams) -> EmptyResult:
    """Output is all that is logged, and has one level."""
    return EmptyResult()
