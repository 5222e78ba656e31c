"""The client at the other end of standard input and output, which are the protocol's alone."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from pluggableharness.bridges.messages import Unreadable, message_of
from pluggableharness.kernel.domain.errors import UsageError

_LONGEST_LINE: Final = 64 * 1024 * 1024

Heard = MemoryObjectReceiveStream[SessionMessage | Exception]
Said = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def client_streams() -> AsyncIterator[tuple[Heard, Said]]:
    """Where the client's messages come from, and where those for it go.

    From here on what others print goes to stderr. A client that reads no more has left, as one
    that writes no more has: the first stream ends.

    Raises:
        UsageError: standard input is a file, which is no client that answers, or a line of it
            has no end.
        OSError: standard output cannot be written, for another reason than that nobody reads it.
    """
    lines, output = await _claimed_input(), _claimed_output()
    heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, said = anyio.create_memory_object_stream[SessionMessage](0)
    client = _Client(lines, output, heard, said)
    try:
        async with anyio.create_task_group() as saying:
            saying.start_soon(client.until_lost, client.say)
            async with anyio.create_task_group() as hearing:
                hearing.start_soon(client.until_lost, client.hear)
                yield messages, answers
                hearing.cancel_scope.cancel()
    finally:
        os.set_blocking(output, True)
        os.close(output)
    if client.lost is not None:
        raise client.lost


async def _claimed_input() -> asyncio.StreamReader:
    """What is standard input now, read by the loop: a signal would have to wait for a thread."""
    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0)):
        raise UsageError(
            "harness mcp speaks to an MCP client over a pipe, and standard input is none; "
            "let a client start it"
        )
    private = os.fdopen(os.dup(0), "rb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), private)
    return reader


def _claimed_output() -> int:
    """What is standard output now; a write to it never waits, so that a signal does not."""
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    os.set_blocking(private, False)
    return private


class _Client:
    """Both directions, and what ended them."""

    def __init__(
        self,
        lines: asyncio.StreamReader,
        output: int,
        heard: MemoryObjectSendStream[SessionMessage | Exception],
        said: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self.lost: Exception | None = None
        self._lines = lines
        self._output = output
        self._heard = heard
        self._said = said
        self._unanswered: set[RequestId] = set()
        self._writing = anyio.Lock()

    async def until_lost(self, direction: Callable[[], Awaitable[None]]) -> None:
        """Go on in one direction; when that is over, nothing more is heard."""
        try:
            await direction()
        except (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the client has left, or the server is at its end
        except (OSError, UsageError) as error:
            self.lost = error
        finally:
            self._heard.close()

    async def hear(self) -> None:
        """Pass on what the client writes, and answer what cannot be read."""
        while line := await self._line():
            message = message_of(line)
            refusal = message.answer if isinstance(message, Unreadable) else self._begun(message)
            if refusal is None:
                await self._heard.send(message)
            else:
                await self._write(refusal)

    async def _line(self) -> bytes:
        try:
            return await self._lines.readline()
        except ValueError:
            raise UsageError(
                f"the MCP client wrote a line of more than {_LONGEST_LINE:,} bytes"
            ) from None

    def _begun(self, message: SessionMessage) -> JSONRPCError | None:
        """Note a request until it is answered; one with the id of another is refused."""
        request = message.message
        if not isinstance(request, JSONRPCRequest):
            return None
        known = coerce_request_id(request.id)
        if known in self._unanswered:
            why = "a request with this id still runs, and this one was not begun"
            error = ErrorData(code=INVALID_REQUEST, message=why)
            return JSONRPCError(jsonrpc="2.0", id=request.id, error=error)
        self._unanswered.add(known)

        async def settled() -> None:
            self._unanswered.discard(known)

        message.metadata = ServerMessageMetadata(on_request_unanswered=settled)
        return None

    async def say(self) -> None:
        """Write what is for the client."""
        async with self._said:
            async for one in self._said:
                answer = one.message
                if isinstance(answer, JSONRPCResponse | JSONRPCError) and answer.id is not None:
                    # Before the client can have read it, and use the id again.
                    self._unanswered.discard(coerce_request_id(answer.id))
                await self._write(answer)

    async def _write(self, message: JSONRPCMessage) -> None:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        async with self._writing:
            left = memoryview(f"{text}\n".encode())
            while left:
                try:
                    left = left[os.write(self._output, left) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._output)
