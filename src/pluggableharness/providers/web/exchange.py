"""One HTTP request and its answer over one connection of its own (C16, C17).

h11 keeps the protocol's state; bytes are moved here, so that one deadline holds for all of it
and leaving the block closes the connection at once. Follows nothing and decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pluggableharness.providers.web.connecting import Network
from pluggableharness.providers.web.targets import Target
from pluggableharness.sdk import ExecutionFailed, TimedOut

if TYPE_CHECKING:
    import h11

_READ: Final = 64 * 1024
_HEADERS: Final = 128 * 1024
_USER_AGENT: Final = "pluggableharness (fetches on behalf of a person)"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a target. `headers` are those beyond the ones that any request has."""

    method: str
    target: Target
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | None = None


@dataclass(slots=True)
class Response:
    """An answer whose body is read while it comes."""

    status: int
    reason: str
    headers: Sequence[tuple[bytes, bytes]]
    complete: bool = field(default=False, init=False)
    """Whether all of the body has come, once it has been read to its end."""
    _wire: _Wire = field(repr=False, kw_only=True)

    def header(self, name: bytes) -> bytes | None:
        """The first header of that name, which is in lower case."""
        return next((value for key, value in self.headers if key == name), None)

    def values(self, name: bytes) -> str:
        """All headers of that name, joined by commas."""
        return ",".join(value.decode("latin-1") for key, value in self.headers if key == name)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, still encoded; ends early where the server does."""
        async for data in self._wire.body():
            yield data
        self.complete = self._wire.ended


@asynccontextmanager
async def exchanged(
    network: Network,
    request: Request,
    *,
    allow_private: bool,
    began: Callable[[], None] = lambda: None,
) -> AsyncIterator[Response]:
    """Send a request and give its answer while the block runs; then the connection is closed.

    `began` is called before the first byte may have left.

    Raises:
        PermissionDenied: the host has an address that may not be reached.
        ExecutionFailed: there is no answer, or none that is HTTP.
        TimedOut: the server fell silent.
    """
    addresses = await network.addresses(request.target, allow_private=allow_private)
    reader, writer = await network.connect(request.target, addresses)
    try:
        wire = _Wire(reader, request.target.host, network.limits.read_s)
        data = wire.request(request)
        began()
        writer.write(data)
        answer = await wire.answer()
        yield Response(
            answer.status_code,
            answer.reason.decode("latin-1"),
            tuple(answer.headers),
            _wire=wire,
        )
    finally:
        writer.transport.abort()


class _Wire:
    """The state of the protocol, and the bytes that move it."""

    def __init__(self, reader: asyncio.StreamReader, host: str, read_s: float) -> None:
        # 36 ms to import, and only a request needs it.
        import h11

        self._h11 = h11
        self._reader = reader
        self._host = host
        self._read_s = read_s
        self._state = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEADERS)
        self._closed = False
        self.ended = False

    def request(self, request: Request) -> bytes:
        """The bytes of a whole request."""
        headers = [
            ("host", request.target.authority),
            ("accept-encoding", "gzip, deflate"),
            ("connection", "close"),
            *request.headers,
        ]
        if not any(name.lower() == "user-agent" for name, _ in request.headers):
            headers.append(("user-agent", _USER_AGENT))
        if request.body is not None:
            headers.append(("content-length", str(len(request.body))))
        raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
        start = self._h11.Request(method=request.method, target=request.target.path, headers=raw)
        pieces = [self._state.send(start)]
        if request.body:
            pieces.append(self._state.send(self._h11.Data(data=request.body)))
        pieces.append(self._state.send(self._h11.EndOfMessage()))
        return b"".join(piece for piece in pieces if piece)

    async def answer(self) -> h11.Response:
        """The answer's head; what comes before it for information is skipped."""
        try:
            while True:
                event = await self._event()
                if isinstance(event, self._h11.Response):
                    return event
                if not isinstance(event, self._h11.InformationalResponse):
                    raise ConnectionResetError("it was closed")
        except OSError as error:
            raise ExecutionFailed(
                f"{self._host} broke the connection off before it answered: "
                f"{error.strerror or error}",
                retryable=True,
            ) from None

    async def body(self) -> AsyncIterator[bytes]:
        """The body's chunks; `ended` tells afterwards whether these were all."""
        while True:
            try:
                event = await self._event()
            except OSError:
                return
            if not isinstance(event, self._h11.Data):
                self.ended = isinstance(event, self._h11.EndOfMessage)
                return
            yield bytes(event.data)

    async def _event(self) -> Any:
        """The next event. Raises OSError where the connection ended before it was due."""
        while True:
            try:
                event = self._state.next_event()
            except self._h11.RemoteProtocolError as error:
                if self._closed:
                    raise ConnectionResetError("it was closed") from None
                raise ExecutionFailed(f"{self._host} does not speak HTTP: {error}") from None
            if event is not self._h11.NEED_DATA:
                return event
            data = await self._data()
            self._closed = not data
            self._state.receive_data(data)

    async def _data(self) -> bytes:
        try:
            async with asyncio.timeout(self._read_s):
                return await self._reader.read(_READ)
        except TimeoutError:
            raise TimedOut(f"{self._host} sent nothing for {self._read_s:g} s") from None
