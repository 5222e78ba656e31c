"""Runs a bridge: its one argument describes the server as JSON."""

import sys

from pluggableharness.bridges.inward.provider import Server
from pluggableharness.bridges.inward.server_spec import ServerSpec
from pluggableharness.sdk import Provider


class Bridge(Provider[None]):
    """A provider whose operations are the tools of a server, known once it is connected."""

    def __init__(self, spec: ServerSpec) -> None:
        super().__init__(spec.name, version="")
        self._server = Server(spec)
        self.secrets = (spec.token,)

    @property
    def version(self) -> str:
        """The server's own."""
        return self._server.version

    async def prepare(self) -> None:
        """Connect. Raises ExecutionFailed."""
        for operation in await self._server.operations():
            self.operations[operation.name] = operation


if __name__ == "__main__":
    Bridge(ServerSpec.from_json(sys.argv[1])).serve()
