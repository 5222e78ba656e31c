"""A network of one's own: names, addresses and servers, of which only loopback is real."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from pluggableharness.providers.web.connecting import Limits, Network, system_dial

WAIT = 25.0
"""Bound of every wait, in seconds; reached by a hang only."""
PUBLIC = "93.184.216.34"
OTHER = "151.101.1.69"

Serve = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes = b"", *headers: str, status: str = "200 OK", length: bool = True) -> bytes:
    """An HTTP answer; without a length the end of the connection is that of the body."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {location}", status=status)


@dataclass
class Server:
    """A server and all that it was sent."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    opened: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has gone away before its answer was over."""

    def header(self, name: str) -> list[str]:
        """The values of a header in all requests so far."""
        lines = b"\r\n".join(self.requests).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return [value.strip() for key, _, value in pairs if key.lower() == name]


@asynccontextmanager
async def serving(
    paths: Mapping[str, bytes | Serve], tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """Serve answers by path on loopback; `*` stands for every other path."""
    tasks: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.opened += 1
        try:
            await _converse(server, paths, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            server.closed.set()
        except asyncio.CancelledError:
            pass
        finally:
            tasks.discard(task)
            writer.transport.abort()

    listener = await asyncio.start_server(converse, "127.0.0.1", 0, ssl=tls)
    server = Server(listener.sockets[0].getsockname()[1])
    try:
        yield server
    finally:
        listener.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _converse(
    server: Server,
    paths: Mapping[str, bytes | Serve],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (
            int(line[15:])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    server.requests.append(head + await reader.readexactly(length))
    path = head.split()[1].decode()
    chosen = paths.get(path, paths.get("*", answer(status="404 Not Found")))
    if isinstance(chosen, bytes):
        writer.write(chosen)
    else:
        talking = asyncio.ensure_future(chosen(head, writer))
        # Whoever asked has nothing more to say: what comes is the end of the connection.
        gone = asyncio.ensure_future(reader.read(1))
        done, pending = await asyncio.wait((talking, gone), return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(talking, gone, return_exceptions=True)
        if gone in done:
            server.closed.set()
            return
        talking.result()
    await writer.drain()
    writer.close()
    await writer.wait_closed()


@dataclass
class World:
    """Names to addresses, addresses to servers, and what was asked of either."""

    names: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    servers: dict[tuple[str, int], Server] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)

    def name(self, host: str, *answers: Sequence[str]) -> None:
        """Give a name its addresses; of several answers each is given once, the last for good."""
        self.names[host] = list(answers)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        answers = self.names.get(host)
        if answers is not None:
            return answers.pop(0) if len(answers) > 1 else answers[0]
        # Addresses are read by the system, as it reads them.
        found = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
        return [str(sockaddr[0]) for *_, sockaddr in found]

    async def dial(self, address: str, port: int) -> socket.socket:
        self.dialled.append((address, port))
        server = self.servers.get((address, port))
        if server is None:
            raise ConnectionRefusedError(111, "Connection refused")
        return await system_dial("127.0.0.1", server.port)

    def network(self, limits: Limits | None = None, trust: ssl.SSLContext | None = None) -> Network:
        """The network that sees this world and nothing else."""
        network = partial(Network, self.resolve, self.dial, limits=limits or Limits())
        return network() if trust is None else network(trust=lambda: trust)
