"""An MCP server over HTTP that wants a token, on the official package: for tests.

Prints its port. Its arguments are the token and, with "legacy", that it knows no later protocol.
"""

import asyncio
import socket
import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

TOKEN = sys.argv[1]

server = MCPServer("weather", version="2.5.0")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def forecast(place: str, days: int = 1) -> dict[str, str]:
    """Say what the weather will be."""
    return {"place": place, "days": str(days)}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def credentials() -> str:
    """Repeat what the client identified itself with, as a careless server does."""
    return f"you are {TOKEN}"


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Count, and say how far it is."""
    for number in range(to):
        await ctx.report_progress(number + 1, to, f"at {number + 1}")
    return "counted"


async def guarded(request: Request, go_on: RequestResponseEndpoint) -> Response:
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return PlainTextResponse("who are you?", 401)
    return await go_on(request)


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app()
    app.add_middleware(BaseHTTPMiddleware, dispatch=guarded)
    print(listening.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve([listening])


asyncio.run(main())
