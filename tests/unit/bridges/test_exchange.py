"""What a client of `harness mcp` is told of a call's output: every character, and whole."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import CallToolRequestParams
from unit.frontends.fakes import BASH, call

from pluggableharness.bridges.outward.exchange import Exchange
from pluggableharness.bridges.outward.frontend import Connection
from pluggableharness.kernel.domain.news import CallEnded, CallEvent
from pluggableharness.kernel.domain.outcome import OutputChunk, OutputStream, Success

pytestmark = pytest.mark.req("K35", "P14")

OUT, ERR = OutputStream.STDOUT, OutputStream.STDERR
RUN, BESIDE = call(BASH, "c1"), call(BASH, "c2")


@dataclass
class Client:
    """A connection with one request, and the log messages that come of it."""

    told: list[tuple[str, str]] = field(default_factory=list)
    connection: Connection = field(default_factory=Connection)

    def __post_init__(self) -> None:
        context: Any = SimpleNamespace(session=self, request_id="1")
        exchange = Exchange(context, CallToolRequestParams(name="exec__bash"))
        self.connection.exchanges[RUN.tool_use_id] = exchange

    async def send_log_message(self, level: str, data: Any, *_: object) -> None:
        self.told.append((data["stream"], data["text"]))


async def test_a_character_cut_between_chunks_comes_whole_whatever_runs_beside() -> None:
    """Case exec-06, in this front end."""
    client = Client()
    for of, stream, data in (
        (RUN, OUT, b"a\xe2"),
        (RUN, ERR, b"b\xc3"),
        (BESIDE, OUT, b"c"),
        (RUN, OUT, b"\x89\xa4"),
        (RUN, ERR, b"\xbc"),
    ):
        await client.connection.hear(CallEvent(of, OutputChunk(stream, data)))
    assert client.told == [
        *(("stdout", "a"), ("stderr", "b"), ("stdout", "c")),
        *(("stdout", "\u2264"), ("stderr", "\u00fc")),
    ]


async def test_a_character_that_is_never_completed_is_marked_when_its_call_ends() -> None:
    """Case exec-07, in this front end."""
    client = Client()
    await client.connection.hear(CallEvent(RUN, OutputChunk(OUT, b"abc\xe2\x89")))
    await client.connection.hear(CallEnded(BESIDE, Success({})))
    assert client.told == [("stdout", "abc")]
    await client.connection.hear(CallEnded(RUN, Success({})))
    assert client.told == [("stdout", "abc"), ("stdout", "\ufffd")]
