"""Runs a bridge: its one argument describes the server as JSON."""

import asyncio
import sys
from typing import TYPE_CHECKING

from pluggableharness.bridges.inward.server_spec import ServerSpec
from pluggableharness.sdk import Provider

if TYPE_CHECKING:
    from pluggableharness.bridges.inward.provider import Server


class Bridge(Provider[None]):
    """A provider whose operations are the tools of a server, known once it is connected."""

    def __init__(self, spec: ServerSpec) -> None:
        super().__init__(spec.name, version="")
        self._spec = spec
        self._server: Server | None = None

    @property
    def version(self) -> str:
        """The server's own."""
        return self._server.version if self._server is not None else ""

    async def prepare(self) -> None:
        """Connect. Raises ExecutionFailed."""
        began = asyncio.get_running_loop().time()
        # MCP takes a second to import: the kernel waits for the first line not longer than for us.
        from pluggableharness.bridges.inward.provider import Server

        self._server = Server(self._spec)
        for operation in await self._server.operations(began):
            self.operations[operation.name] = operation


if __name__ == "__main__":
    Bridge(ServerSpec.from_json(sys.argv[1])).serve()
