"""The peer of S4: starts a server, makes one call, and ends."""

import asyncio
import sys
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    """One call."""
    transport = StdioTransport(sys.executable, [str(Path(__file__).with_name("mcp_echo.py"))])
    async with Client(transport) as client:
        result = await client.call_tool("read_file", {"path": "README.md"})
    print(len(result.data["content"]))


if __name__ == "__main__":
    asyncio.run(main())
