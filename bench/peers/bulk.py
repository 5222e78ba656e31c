"""The peer of S9: a bare grpc.aio server that streams as many bytes as it is asked for."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc

CHUNK = b"\0" * (128 * 1024)


async def stream(request: bytes, context: object) -> AsyncIterator[bytes]:
    """Send `int(request)` bytes in pieces of 128 KiB."""
    for _ in range(int(request) // len(CHUNK)):
        yield CHUNK


async def main(address: str) -> None:
    """Serve until killed; says `ready` on standard output."""
    server = grpc.aio.server()
    handler: Any = grpc.unary_stream_rpc_method_handler(stream)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("bench.Bulk", {"Stream": handler}),)
    )
    server.add_insecure_port(address)
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
